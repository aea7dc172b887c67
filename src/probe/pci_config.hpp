// SPDX-License-Identifier: GPL-2.0-or-later
// What stands in the bytes of a PCI function's configuration space. Pure.
#pragma once

#include "base/result.hpp"
#include "probe/pci_tree.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace peerpath::probe {

/// Configuration space of one function from its first byte on, as much of it as could be read.
/// Linux shows 64 bytes to ordinary users, without an error. Facts: drivers/pci/pci-sysfs.c
/// pci_read_config; the registers: include/uapi/linux/pci_regs.h.
class PciConfig {
 public:
  /// All of a function's space on PCI Express, and on conventional PCI.
  static constexpr std::size_t extended_size = 4096;
  static constexpr std::size_t conventional_size = 256;
  static constexpr std::size_t public_size = 64;

  explicit PciConfig(std::string bytes) : bytes_(std::move(bytes)) {}

  // Each of these is nothing where the byte wasn't read.
  [[nodiscard]] std::optional<std::uint16_t> word(std::size_t offset) const;
  [[nodiscard]] std::optional<std::uint32_t> dword(std::size_t offset) const;
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

  /// Errors: denied where only the first 64 bytes could be read; malformed for a list of
  /// capabilities that is broken or cut short.
  [[nodiscard]] Result<PortType> port_type() const;

  /// Nothing only where it's certain that the function has no such capability.
  /// Errors: those of `port_type`; unsupported where extended configuration space can't be
  /// reached, or where the control stands in registers that we don't read.
  [[nodiscard]] Result<std::optional<Acs>> acs(std::uint16_t vendor, std::uint16_t device) const;

  /// From the link registers; nothing without a link. Errors: those of `port_type`.
  [[nodiscard]] Result<std::optional<PciLink>> link() const;

  /// Bus numbers behind a bridge; nothing where it's none or they aren't set.
  [[nodiscard]] std::optional<PciBuses> buses() const;
  /// Whether it's of a kind that stands below another port on real machines, never on a root bus: a
  /// PCI Express endpoint that isn't integrated into the root complex, a switch's port, a bridge
  /// from PCI Express to PCI. False where its type can't be read.
  [[nodiscard]] bool needs_port_above() const;

 private:
  [[nodiscard]] Result<> confirm_whole(std::size_t needed) const;
  [[nodiscard]] Result<std::optional<std::size_t>> find_express() const;
  [[nodiscard]] Result<std::optional<std::size_t>> find_extended(std::uint16_t id) const;
  [[nodiscard]] Result<std::optional<std::size_t>> walk_extended(std::uint16_t id) const;

  std::string bytes_;
};

}  // namespace peerpath::probe
