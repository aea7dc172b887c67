// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/link_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace peerpath::cli {
namespace {

using gpu::Nearness;
using probe::PciNode;
using probe::PciPath;
using probe::PortType;

/// The lower of two numbers of which either may be zero for unknown.
template <class Number>
Number lower_known(Number a, Number b) {
  if (a == 0) return b;
  return b == 0 ? a : std::min(a, b);
}

std::size_t depth_of(const probe::PciTree& tree, const PciNode& node) {
  std::size_t depth = 0;
  const auto* above = node.parent ? tree.find(*node.parent) : nullptr;
  for (; above != nullptr && depth < tree.nodes.size(); ++depth)
    above = above->parent ? tree.find(*above->parent) : nullptr;
  return depth;
}

/// Other host bridges of the same NUMA node are in the same socket. Where the nodes aren't known,
/// another host bridge may be.
Nearness nearness_of(const PciNode& from, const PciNode& to, const PciPath& path) {
  if (from.bdf == to.bdf) return Nearness::self;
  if (path.common) {
    // From each end up to a port of the switch that both are in.
    const bool one = path.from.size() <= 2 && path.to.size() <= 2;
    return one ? Nearness::one_switch : Nearness::several_switches;
  }
  const bool nodes_known =
      from.numa_node && to.numa_node && *from.numa_node >= 0 && *to.numa_node >= 0;
  const bool near = nodes_known ? *from.numa_node == *to.numa_node : path.same_host_bridge;
  return near ? Nearness::host_bridge : Nearness::across_sockets;
}

class Builder {
 public:
  explicit Builder(const check::Facts& facts) : facts_(facts), tree_(*facts.tree) {}

  void add(const std::string& from, const std::string& to) {
    const auto* const first = tree_.find(from);
    const auto* const second = tree_.find(to);
    if (first == nullptr || second == nullptr) return;
    graph_.paths[{from, to}] =
        is_nvlinked(from, to) ? nvlink_path(from, to) : pci_path(*first, *second);
  }

  gpu::LinkGraph take() { return std::move(graph_); }

 private:
  [[nodiscard]] bool is_nvlinked(const std::string& from, const std::string& to) const {
    if (!facts_.gpus) return false;
    const auto peer = facts_.gpus->peers.find({from, to});
    return peer != facts_.gpus->peers.end() && peer->second.nvlink == "OK";
  }

  gpu::Path nvlink_path(const std::string& from, const std::string& to) {
    gpu::Path path;
    path.nearness = Nearness::nvlink;
    path.links = {link(from + " NVLink out", 0), link(to + " NVLink in", 0)};
    return path;
  }

  gpu::Path pci_path(const PciNode& from, const PciNode& to) {
    const auto way = tree_.path(from.bdf, to.bdf);
    gpu::Path path;
    path.nearness = nearness_of(from, to, way);
    if (path.nearness == Nearness::self) return path;
    for (const auto& bdf : way.from)
      add_link(path, bdf, "up");
    if (path.nearness == Nearness::across_sockets) add_socket_link(path, from, to);
    for (auto bdf = way.to.rbegin(); bdf != way.to.rend(); ++bdf)
      add_link(path, *bdf, "down");
    return path;
  }

  void add_link(gpu::Path& path, const std::string& bdf, std::string_view direction) {
    const auto* const node = tree_.find(bdf);
    if (node == nullptr || !has_link_above(tree_, *node)) return;
    const auto best = best_link(tree_, *node);
    const auto used = node->link && node->link->width != 0 ? node->link->width : best.max_width;
    const auto capacity = link_capacity(best.max_speed, used);
    path.links.push_back(link(fmt::format("{} {}", bdf, direction), capacity));
    path.ceiling = lower_known(path.ceiling, capacity);
    path.is_degraded = path.is_degraded || used < best.max_width;
  }

  /// What the sockets have between them is shared; how much that is, nothing tells.
  void add_socket_link(gpu::Path& path, const PciNode& from, const PciNode& to) {
    if (!from.numa_node || !to.numa_node) return;
    path.links.push_back(
        link(fmt::format("NUMA node {} to {}", *from.numa_node, *to.numa_node), 0));
  }

  std::size_t link(const std::string& name, double bytes_per_second) {
    const auto [place, is_new] = places_.emplace(name, graph_.links.size());
    if (is_new) graph_.links.push_back({name, bytes_per_second});
    return place->second;
  }

  const check::Facts& facts_;
  const probe::PciTree& tree_;
  std::map<std::string, std::size_t> places_;  ///< of links, by name
  gpu::LinkGraph graph_;
};

}  // namespace

bool has_link_above(const probe::PciTree& tree, const PciNode& node) {
  if (!node.parent) return false;
  if (!node.type) return depth_of(tree, node) % 2 == 1;
  return *node.type != PortType::root_port && *node.type != PortType::downstream_port;
}

probe::PciLink best_link(const probe::PciTree& tree, const PciNode& node) {
  const auto* const port = node.parent ? tree.find(*node.parent) : nullptr;
  const auto lower = node.link.value_or(probe::PciLink{});
  const auto upper = port != nullptr ? port->link.value_or(probe::PciLink{}) : probe::PciLink{};
  probe::PciLink best;
  best.max_speed = lower_known(lower.max_speed, upper.max_speed);
  best.max_width = lower_known(lower.max_width, upper.max_width);
  return best;
}

double link_capacity(double speed, unsigned width) {
  constexpr double giga = 1e9;
  const double raw = speed * giga / 8 * width;
  if (speed < 8) return raw * 8 / 10;
  return speed < 64 ? raw * 128 / 130 : raw * 242 / 256;
}

gpu::LinkGraph link_graph(const check::Facts& facts, const std::vector<std::string>& bdfs) {
  if (!facts.tree) return {};
  Builder builder(facts);
  for (const auto& from : bdfs) {
    for (const auto& to : bdfs)
      builder.add(from, to);
  }
  return builder.take();
}

}  // namespace peerpath::cli
