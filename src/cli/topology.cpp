// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/topology.hpp"

#include "check/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace peerpath::cli {
namespace {

using probe::Acs;
using probe::PciNode;
using probe::PortType;
using report::TopologyNode;

/// As the schema has it.
std::string kind_of(const PciNode& node) {
  if (!node.type) return "unknown";
  switch (*node.type) {
    case PortType::endpoint:
      return "endpoint";
    case PortType::root_port:
      return "root-port";
    case PortType::upstream_port:
      return "switch-upstream-port";
    case PortType::downstream_port:
      return "switch-downstream-port";
    case PortType::pcie_to_pci:
      return "pcie-to-pci-bridge";
    case PortType::pci_to_pcie:
      return "pci-to-pcie-bridge";
    case PortType::conventional:
      return "conventional";
  }
  return "unknown";
}

TopologyNode::Iommu iommu_of(const probe::PciDevice& device) {
  const auto mode = check::translation_of(device);
  return {mode, device.group_type ? *device.group_type : device.group_type.error().text()};
}

std::optional<TopologyNode::Acs> acs_of(const PciNode& node) {
  if (!node.acs) return TopologyNode::Acs{false, {}, node.acs.error().text()};
  if (!*node.acs) return std::nullopt;
  const auto& acs = **node.acs;
  TopologyNode::Acs shown{true, {}, acs.where};
  const auto add = [&](std::uint16_t bit, const char* name) {
    if ((acs.control & bit) != 0) shown.redirects.emplace_back(name);
  };
  add(Acs::request_redirect, "ReqRedir");
  add(Acs::completion_redirect, "CmpltRedir");
  add(Acs::egress_control, "EgressCtrl");
  return shown;
}

TopologyNode node_of(const PciNode& node) {
  TopologyNode shown;
  shown.bdf = node.bdf;
  shown.host_bridge = node.host_bridge;
  shown.parent = node.parent;
  shown.kind = kind_of(node);
  shown.name = node.name;
  if (shown.name.empty() && node.vendor != 0) {
    shown.name = fmt::format("{:04x}:{:04x}", node.vendor, node.device);
  }
  // Linux writes -1 where the firmware doesn't tell.
  if (node.numa_node && *node.numa_node >= 0) shown.numa_node = node.numa_node;
  shown.acs = acs_of(node);
  if (node.link) {
    shown.link = {node.link->speed, node.link->width, node.link->max_speed, node.link->max_width};
  }
  return shown;
}

/// A domain has four digits or, made up by the kernel, more.
bool comes_before(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

class Conversion {
 public:
  explicit Conversion(const check::Facts& facts) : tree_(*facts.tree) {
    for (const auto& bdf : tree_.devices)
      modes_[bdf] = {check::Translation::unknown, "not read"};
    if (!facts.devices) return;
    for (const auto& device : *facts.devices) {
      const auto mode = modes_.find(device.bdf);
      if (mode != modes_.end()) mode->second = iommu_of(device);
    }
  }

  report::Topology run() {
    std::vector<const PciNode*> roots;
    for (const auto& [bdf, node] : tree_.nodes) {
      if (node.parent && tree_.nodes.count(*node.parent) != 0) {
        children_[*node.parent].push_back(&node);
      } else {
        roots.push_back(&node);
      }
    }
    std::stable_sort(roots.begin(), roots.end(), [](const auto* a, const auto* b) {
      return comes_before(a->host_bridge, b->host_bridge);
    });
    for (const auto* root : roots)
      add(*root);
    return std::move(topology_);
  }

 private:
  void add(const PciNode& node) {
    auto shown = node_of(node);
    if (shown.parent && tree_.nodes.count(*shown.parent) == 0) shown.parent.reset();
    const auto mode = modes_.find(node.bdf);
    if (mode != modes_.end()) shown.iommu = mode->second;
    topology_.push_back(std::move(shown));
    for (const auto* child : children_[node.bdf])
      add(*child);
  }

  const probe::PciTree& tree_;
  std::map<std::string, TopologyNode::Iommu> modes_;  ///< of the devices
  std::map<std::string, std::vector<const PciNode*>> children_;
  report::Topology topology_;
};

}  // namespace

report::Topology topology_of(const check::Facts& facts) {
  if (!facts.tree) return {};
  return Conversion(facts).run();
}

}  // namespace peerpath::cli
