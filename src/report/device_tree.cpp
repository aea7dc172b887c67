// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/device_tree.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::report {
namespace {

const DeviceTree::Nodes& nodes_in(const std::map<std::string, DeviceTree::Nodes>& nodes,
                                  const std::string& key) {
  static const DeviceTree::Nodes none;
  const auto found = nodes.find(key);
  return found == nodes.end() ? none : found->second;
}

}  // namespace

DeviceTree::DeviceTree(const Topology& topology) {
  for (const auto& node : topology)
    bdfs_.insert(node.bdf);
  for (const auto& node : topology) {
    if (has_parent(node)) {
      children_[*node.parent].push_back(&node);
    } else {
      add_root(node);
    }
  }
  count_devices(topology);
}

const DeviceTree::Nodes& DeviceTree::roots(const std::string& host_bridge) const {
  return nodes_in(roots_, host_bridge);
}

const DeviceTree::Nodes& DeviceTree::children(const TopologyNode& node) const {
  return nodes_in(children_, node.bdf);
}

std::string DeviceTree::numa_words(const std::string& host_bridge) const {
  const auto found = numa_nodes_.find(host_bridge);
  if (found == numa_nodes_.end()) return "";
  std::vector<std::string> numbers;
  for (const int number : found->second)
    numbers.push_back(std::to_string(number));
  return fmt::format("NUMA node{} {}", numbers.size() > 1 ? "s" : "", join(numbers, ", "));
}

bool DeviceTree::is_between(const TopologyNode& node) const {
  const auto below = devices_.at(node.bdf);
  if (below > 0 && below < all_devices_) return true;
  const auto& below_it = children(node);
  const auto has_devices = [&](const auto* child) { return devices_.at(child->bdf) > 0; };
  return std::count_if(below_it.begin(), below_it.end(), has_devices) > 1;
}

bool DeviceTree::has_parent(const TopologyNode& node) const {
  return node.parent && bdfs_.count(*node.parent) != 0;
}

void DeviceTree::add_root(const TopologyNode& node) {
  auto& roots = roots_[node.host_bridge];
  if (roots.empty()) host_bridges_.push_back(node.host_bridge);
  roots.push_back(&node);
}

// A node comes after its parent.
void DeviceTree::count_devices(const Topology& topology) {
  for (auto node = topology.rbegin(); node != topology.rend(); ++node) {
    auto& devices = devices_[node->bdf];
    if (node->iommu) ++devices;
    (has_parent(*node) ? devices_[*node->parent] : all_devices_) += devices;
  }
  for (const auto& node : topology) {
    if (node.numa_node) numa_nodes_[node.host_bridge].insert(*node.numa_node);
  }
}

std::string link_words(const TopologyNode::Link& link) {
  std::vector<std::string> words;
  if (link.speed > 0) words.push_back(fmt::format("{:g} GT/s", link.speed));
  if (link.width > 0) words.push_back(fmt::format("x{}", link.width));
  if (link.width > 0 && link.width < link.max_width) {
    words.push_back(fmt::format("of x{}", link.max_width));
  }
  return join(words, " ");
}

std::string kind_words(const TopologyNode& node) {
  auto words = printable(node.kind);
  std::replace(words.begin(), words.end(), '-', ' ');
  return words;
}

}  // namespace peerpath::report
