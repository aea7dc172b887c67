// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "sys/system.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::probe {

/// What a function is in PCI Express terms. Fact: PCIe Base Specification 7.5.3.2, Device/Port Type
/// of the PCI Express Capabilities register.
enum class PortType {
  endpoint,  ///< of any kind, root complex integrated ones too
  root_port,
  upstream_port,
  downstream_port,
  pcie_to_pci,
  pci_to_pcie,
  conventional,  ///< has no PCI Express capability
};
/// "root port", "switch upstream port", …
[[nodiscard]] std::string_view name_of(PortType type);

/// Access Control Services of one function, as they are now.
struct Acs {
  static constexpr std::uint16_t source_validation = 0x01;
  static constexpr std::uint16_t translation_blocking = 0x02;
  static constexpr std::uint16_t request_redirect = 0x04;
  static constexpr std::uint16_t completion_redirect = 0x08;
  static constexpr std::uint16_t upstream_forwarding = 0x10;
  static constexpr std::uint16_t egress_control = 0x20;
  static constexpr std::uint16_t direct_translated = 0x40;
  /// What turns a peer's transaction upstream.
  /// Fact: drivers/pci/p2pdma.c pci_bridge_has_acs_redir.
  static constexpr std::uint16_t redirect = request_redirect | completion_redirect | egress_control;

  std::uint16_t capability = 0;
  std::uint16_t control = 0;
  std::string where;  ///< the register, "ACSCtl" or the one that a quirk puts in its place

  [[nodiscard]] bool redirects() const { return (control & redirect) != 0; }
};

/// A link's state, as its lower or upper end tells it.
struct PciLink {
  double speed = 0;      ///< GT/s now; 0 where unknown
  unsigned width = 0;    ///< lanes now; 0 where unknown
  double max_speed = 0;  ///< GT/s that this end can do
  unsigned max_width = 0;
};

struct PciBar {
  unsigned number = 0;     ///< 0 to 5
  std::uint64_t size = 0;  ///< bytes
  bool prefetchable = false;
  bool is_64_bit = false;
};

/// The buses behind a bridge.
struct PciBuses {
  unsigned secondary = 0;
  unsigned subordinate = 0;
};

/// One PCI function with what its place in the tree needs. A value that couldn't be read is an
/// error, never a default.
struct PciNode {
  std::string bdf;
  std::uint16_t vendor = 0;
  std::uint16_t device = 0;
  std::uint32_t class_code = 0;
  std::string name;                   ///< vendor's and device's in words; empty where not looked up
  std::string host_bridge;            ///< the root bus it's under: "pci0000:00"
  std::optional<std::string> parent;  ///< the bridge above; nothing on a root bus
  /// Why it isn't known whether there's a bridge above, or another than `parent`.
  std::optional<Error> parent_error = {};
  std::optional<PciBuses> buses = {};  ///< nothing where it's no bridge, or that can't be read
  Result<PortType> type;
  Result<std::optional<Acs>> acs;        ///< nothing: it has no ACS capability
  std::optional<PciLink> link;           ///< nothing where it has none or doesn't tell
  std::optional<Error> link_error = {};  ///< why the link couldn't be read
  std::vector<PciBar> bars;
  std::optional<Error> bars_error = {};  ///< why they couldn't be read
  std::optional<int> numa_node;
  std::optional<std::string> physical_function;  ///< of a virtual function
  std::optional<bool> removable;                 ///< nothing where the kernel doesn't tell
};

/// How two functions reach each other.
struct PciPath {
  std::optional<std::string> common;  ///< lowest bridge above both; nothing: by the root complex
  bool same_host_bridge = false;      ///< or another root complex, another socket perhaps
  /// The first end, and each bridge above it, below `common`. Of a virtual function its physical
  /// function stands there: that one has the registers.
  std::vector<std::string> from;
  std::vector<std::string> to;  ///< the same of the other end
};

/// The devices to be checked and each bridge above them.
struct PciTree {
  std::map<std::string, PciNode> nodes;  ///< by BDF
  std::vector<std::string> devices;      ///< those to be checked, in order of their address

  [[nodiscard]] const PciNode* find(const std::string& bdf) const;
  /// Both must be in the tree.
  [[nodiscard]] PciPath path(const std::string& from, const std::string& to) const;
};

/// The state of the function's link now. Nothing where it has none, doesn't tell or can't be read.
[[nodiscard]] std::optional<PciLink> read_pci_link(const System& system, const std::string& bdf);

/// Reads these functions and every bridge above them, the physical functions of virtual ones
/// likewise, and no others. Configuration space beyond 64 bytes is for root alone: what stands
/// there is an error of code denied for others. Names aren't looked up: libpci takes 40 ms to read
/// pci.ids, several times as long as all the rest. Errors: those of finding the functions.
[[nodiscard]] Result<PciTree> read_pci_tree(const System& system,
                                            const std::vector<std::string>& bdfs);

}  // namespace peerpath::probe
