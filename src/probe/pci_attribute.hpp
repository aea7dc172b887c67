// SPDX-License-Identifier: GPL-2.0-or-later
// The files of a PCI function in sysfs.
#pragma once

#include "base/result.hpp"
#include "sys/system.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace peerpath::probe {

constexpr std::string_view pci_devices = "/sys/bus/pci/devices";
/// An attribute of sysfs is at most one page.
constexpr std::size_t attribute_limit = 4096;

[[nodiscard]] bool is_hex(std::string_view text);
[[nodiscard]] std::string lower(std::string_view text);

/// `DDDD:BB:DD.F`, the form of the names in /sys/bus/pci/devices. A domain may have more digits
/// than four: those of Intel VMD begin at 10000.
[[nodiscard]] bool is_pci_address(std::string_view text);

/// The address in that form: in small letters, with domain 0 where it has none.
/// Errors: malformed, naming the text.
[[nodiscard]] Result<std::string> whole_pci_address(std::string_view text);

[[nodiscard]] std::string pci_path(std::string_view bdf, std::string_view attribute);

/// An attribute like `0x10de`, of at most that many hexadecimal digits.
[[nodiscard]] Result<std::uint32_t> read_pci_id(const System& system, const std::string& path,
                                                std::size_t digits);

/// The last component of a link's target, or nothing where there's no such link.
[[nodiscard]] Result<std::optional<std::string>> read_link_name(const System& system,
                                                                const std::string& path);

}  // namespace peerpath::probe
