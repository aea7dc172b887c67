// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "sys/system.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::probe {

/// Which PCI functions count as devices to be checked: `VENDOR:DEVICE[:CLASS]`, hexadecimal or
/// `*`; CLASS is the first digits of the class code (03 display controllers, 0302 3D).
struct PciMatch {
  std::optional<std::uint16_t> vendor;
  std::optional<std::uint16_t> device;
  std::string class_prefix;  ///< lower-case hexadecimal digits, up to 6; empty matches any
};
/// Errors: malformed, naming the text.
[[nodiscard]] Result<PciMatch> parse_pci_match(std::string_view text);
/// Of the class alone.
[[nodiscard]] bool class_matches(const PciMatch& match, std::uint32_t class_code);

/// One PCI function and what the kernel says of its IOMMU group. Look at `group_type` first:
/// where it's an error, nothing is known, not even that there is no group.
struct PciDevice {
  std::string bdf;  ///< 0000:3b:00.0
  std::uint16_t vendor = 0;
  std::uint16_t device = 0;
  std::uint32_t class_code = 0;      ///< 24 bits
  std::string driver;                ///< bound driver's name; empty where none is bound
  std::optional<std::string> group;  ///< IOMMU group's number; nothing where it has no group
  /// `type` of the group, as it's written there; empty without a group. An error where that, the
  /// group or the function itself can't be told.
  Result<std::string> group_type;
};

/// The functions under /sys/bus/pci/devices that one of the patterns matches, by address.
/// A function is read as far as the patterns need, its class first. One that can't be read might
/// be one of them: it's in the list, with the error in `group_type`. One that is unplugged
/// meanwhile isn't. Errors: not_found where there's no /sys/bus/pci (not mounted), those of
/// reading. Fact: /sys/kernel/iommu_groups/N/type is the default domain of the group
/// (drivers/iommu/iommu.c iommu_group_show_type), world-readable since 4.19.
[[nodiscard]] Result<std::vector<PciDevice>> find_pci_devices(const System& system,
                                                              const std::vector<PciMatch>& matches);

/// The RDMA network adapters among them, likewise: network controllers that have an `infiniband`
/// directory, which the kernel makes for each RDMA device (drivers/infiniband/core/device.c),
/// InfiniBand controllers, and Mellanox's.
[[nodiscard]] Result<std::vector<PciDevice>> find_rdma_nics(const System& system);

/// The same for functions named by their address, whatever they are. `bdf` may leave the domain
/// out. Errors: not_found naming the address; malformed.
[[nodiscard]] Result<std::vector<PciDevice>> read_pci_devices(const System& system,
                                                              const std::vector<std::string>& bdfs);

}  // namespace peerpath::probe
