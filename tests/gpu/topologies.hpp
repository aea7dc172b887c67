// SPDX-License-Identifier: GPL-2.0-or-later
// Hosts for the schedule, built in code.
#pragma once

#include "gpu/selftest/links.hpp"
#include "gpu/selftest/schedule.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace peerpath::gpu {

struct Topology {
  std::string name;
  std::vector<std::string> bdfs;
  LinkGraph graph;

  [[nodiscard]] std::vector<Measurement> all_pairs() const {
    std::vector<IndexPair> pairs;
    for (std::size_t a = 0; a < bdfs.size(); ++a) {
      for (std::size_t b = 0; b < bdfs.size(); ++b) {
        if (a != b) pairs.emplace_back(a, b);
      }
    }
    return measurements(bdfs, pairs, graph);
  }
};

inline std::vector<std::string> some_bdfs(std::size_t count) {
  std::vector<std::string> bdfs;
  for (std::size_t i = 0; i < count; ++i)
    bdfs.push_back(fmt::format("0000:{:02x}:00.0", i + 1));
  return bdfs;
}

/// Two sockets with a link between, switches below them, GPUs below those.
inline Topology with_switches(std::string name, std::size_t gpus, std::size_t switches) {
  Topology t{std::move(name), some_bdfs(gpus), {}};
  const std::size_t per_switch = gpus / switches;
  // Up and down of each GPU, of each switch, then of the link between the sockets.
  for (std::size_t i = 0; i < 2 * (gpus + switches + 1); ++i)
    t.graph.links.push_back({fmt::format("link {}", i), 25e9});
  for (std::size_t a = 0; a < gpus; ++a) {
    for (std::size_t b = 0; b < gpus; ++b) {
      if (a == b) continue;
      const auto from = a / per_switch;
      const auto to = b / per_switch;
      const auto socket_from = from / (switches / 2);
      const auto socket_to = to / (switches / 2);
      Path path{{2 * a, 2 * b + 1}, Nearness::one_switch, 25e9, false};
      if (from != to) {
        path.links.insert(path.links.end(), {2 * (gpus + from), 2 * (gpus + to) + 1});
        path.nearness = Nearness::host_bridge;
      }
      if (socket_from != socket_to) {
        path.links.push_back(2 * (gpus + switches) + socket_from);
        path.nearness = Nearness::across_sockets;
      }
      t.graph.paths[{t.bdfs[a], t.bdfs[b]}] = path;
    }
  }
  return t;
}

/// Each GPU by NVLink to a switch that is never in the way.
inline Topology with_nvlink(std::string name, std::size_t gpus) {
  Topology t{std::move(name), some_bdfs(gpus), {}};
  for (std::size_t i = 0; i < 2 * gpus; ++i)
    t.graph.links.push_back({fmt::format("nvlink {}", i), 200e9});
  for (std::size_t a = 0; a < gpus; ++a) {
    for (std::size_t b = 0; b < gpus; ++b) {
      if (a == b) continue;
      t.graph.paths[{t.bdfs[a], t.bdfs[b]}] = {{2 * a, 2 * b + 1}, Nearness::nvlink, 200e9, false};
    }
  }
  return t;
}

inline std::vector<Topology> topologies() {
  return {with_switches("8 GPUs, two sockets, PLX switches", 8, 4),
          with_switches("16 GPUs, four switches", 16, 4), with_nvlink("8 GPUs, NVLink", 8)};
}

}  // namespace peerpath::gpu
