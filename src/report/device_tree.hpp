// SPDX-License-Identifier: GPL-2.0-or-later
// What every drawing of the topology needs: who is below whom, and which bridges lie between
// devices.
#pragma once

#include "report/topology.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace peerpath::report {

/// The topology by parent and child. Must not outlive it.
class DeviceTree {
 public:
  using Nodes = std::vector<const TopologyNode*>;

  explicit DeviceTree(const Topology& topology);

  /// In the topology's order.
  [[nodiscard]] const std::vector<std::string>& host_bridges() const { return host_bridges_; }
  /// What has no bridge above it but this host bridge.
  [[nodiscard]] const Nodes& roots(const std::string& host_bridge) const;
  [[nodiscard]] const Nodes& children(const TopologyNode& node) const;
  /// "NUMA nodes 0, 1" of all that is below it; empty where the kernel doesn't tell.
  [[nodiscard]] std::string numa_words(const std::string& host_bridge) const;
  /// Whether a path between two devices passes through this bridge: one of them isn't below it, or
  /// it's the lowest bridge above both.
  [[nodiscard]] bool is_between(const TopologyNode& node) const;

 private:
  [[nodiscard]] bool has_parent(const TopologyNode& node) const;
  void add_root(const TopologyNode& node);
  void count_devices(const Topology& topology);

  std::set<std::string> bdfs_;
  std::map<std::string, Nodes> children_;  ///< by the BDF above them
  std::vector<std::string> host_bridges_;
  std::map<std::string, Nodes> roots_;  ///< by their host bridge
  std::map<std::string, std::set<int>> numa_nodes_;
  std::map<std::string, std::size_t> devices_;  ///< at each node and below it
  std::size_t all_devices_ = 0;
};

/// "32 GT/s x8 of x16"; empty where nothing is known.
[[nodiscard]] std::string link_words(const TopologyNode::Link& link);

/// "switch downstream port"
[[nodiscard]] std::string kind_words(const TopologyNode& node);

}  // namespace peerpath::report
