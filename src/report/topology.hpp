// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/devices.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace peerpath::report {

/// A PCI function that is checked, or a bridge above one, as far as a report shows it.
struct TopologyNode {
  struct Iommu {
    check::Translation mode = check::Translation::unknown;
    std::string detail;  ///< the type of its group, or why it isn't known; may be empty
  };
  struct Acs {
    bool known = false;
    std::vector<std::string> redirects;  ///< the redirecting bits that are set, as lspci names them
    std::string detail;                  ///< the register, or why it isn't known
  };
  struct Link {
    double speed = 0;      ///< GT/s now; 0 where unknown
    unsigned width = 0;    ///< lanes now; 0 where unknown
    double max_speed = 0;  ///< GT/s
    unsigned max_width = 0;
  };

  std::string bdf;
  std::string host_bridge = {};            ///< "pci0000:00"
  std::optional<std::string> parent = {};  ///< the bridge above; nothing on a root bus
  std::string kind = {};                   ///< "root-port", …, or "unknown"
  std::string name = {};              ///< vendor's and device's, or their numbers; may be empty
  std::optional<int> numa_node = {};  ///< nothing where the kernel doesn't tell
  std::optional<Iommu> iommu = {};    ///< of a function that is checked, no other
  std::optional<Acs> acs = {};        ///< nothing: it has no ACS capability
  std::optional<Link> link = {};      ///< nothing where it has none or doesn't tell
};

/// Each node comes after its parent, and no address comes twice.
using Topology = std::vector<TopologyNode>;

/// The modes as reports name them.
inline constexpr std::array<std::pair<check::Translation, std::string_view>, 5> iommu_modes{
    {{check::Translation::identity, "identity"},
     {check::Translation::no_iommu, "no-iommu"},
     {check::Translation::translated, "translated"},
     {check::Translation::unusable, "unusable"},
     {check::Translation::unknown, "unknown"}}};

}  // namespace peerpath::report
