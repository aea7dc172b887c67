// SPDX-License-Identifier: GPL-2.0-or-later
// The links between GPUs, as far as the schedule and the judgement of bandwidths need them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace peerpath::gpu {

/// How near two GPUs are, in the terms of 'nvidia-smi topo -m'; nearest first.
enum class Nearness { self, nvlink, one_switch, several_switches, host_bridge, across_sockets };
/// "NVL", "PIX", "PXB", "PHB", "SYS"; "SELF" for a loopback.
[[nodiscard]] std::string_view name_of(Nearness nearness);

/// One direction of a link: data towards the root and away from it don't disturb each other.
struct Link {
  std::string name;             ///< "0000:3b:00.0 up"
  double bytes_per_second = 0;  ///< of data, at most; zero where it isn't known
};

/// The way from one GPU to another.
struct Path {
  std::vector<std::size_t> links;  ///< indices into LinkGraph::links; empty where unknown
  Nearness nearness = Nearness::across_sockets;
  double ceiling = 0;        ///< bytes per second of the narrowest known link; zero where unknown
  bool is_degraded = false;  ///< a link is trained below what both its ends can do
};

struct LinkGraph {
  std::vector<Link> links;
  std::map<std::pair<std::string, std::string>, Path> paths;  ///< by BDFs, from and to

  /// The path, or one of unknown links and far ends.
  [[nodiscard]] Path path(const std::string& from, const std::string& to) const;
};

}  // namespace peerpath::gpu
