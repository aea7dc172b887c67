// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/pci.hpp"

#include "base/text.hpp"
#include "probe/pci_attribute.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::probe {
namespace {

constexpr std::string_view iommu_groups = "/sys/kernel/iommu_groups";

/// "No link" is evidence of "no translation" only in a sysfs that shows groups at all, and whose
/// groups don't have the function: an imitation or a partial copy would otherwise pass for a
/// machine without an IOMMU.
Result<> confirm_no_group(const System& system, const std::string& bdf) {
  const auto groups = system.list(iommu_groups);
  if (!groups && groups.error().code != Errc::not_found) return fail(groups.error());
  if (!groups) {
    // Without CONFIG_IOMMU_API the directory isn't there, but its parent always is, and no unit.
    const auto parent = system.list("/sys/kernel");
    if (!parent) return fail(parent.error());
    const auto units = system.list("/sys/class/iommu");
    if (units && !units->empty()) {
      return fail(Errc::malformed, fmt::format("'{}' isn't there though there are IOMMUs",
                                               system.shown(iommu_groups)));
    }
    return {};
  }
  for (const auto& group : *groups) {
    const auto member = fmt::format("{}/{}/devices/{}", iommu_groups, group, bdf);
    if (system.link_info(member)) {
      return fail(Errc::malformed, fmt::format("'{}' has it, but it has no link to the group",
                                               system.shown(member)));
    }
  }
  return {};
}

Result<std::string> read_group_type(const System& system, const PciDevice& device) {
  const auto path = pci_path(device.bdf, "iommu_group/type");
  const auto text = system.read(path, attribute_limit);
  if (!text) return fail(text.error());
  const auto type = trim(*text);
  const auto belongs = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; };
  if (type.size() > 32 || !std::all_of(type.begin(), type.end(), belongs)) {
    return fail(Errc::malformed,
                fmt::format("'{}': not a type of an IOMMU group", system.shown(path)));
  }
  return std::string(type);
}

/// Fills in the driver, the group and its type.
void read_binding(const System& system, PciDevice& device) {
  const auto driver = read_link_name(system, pci_path(device.bdf, "driver"));
  const auto link = pci_path(device.bdf, "iommu_group");
  const auto group = read_link_name(system, link);
  if (!driver || !group) {
    device.group_type = fail(driver ? group.error() : driver.error());
    return;
  }
  device.driver = driver->value_or("");
  if (!*group) {
    const auto confirmed = confirm_no_group(system, device.bdf);
    device.group_type = confirmed ? Result<std::string>("") : fail(confirmed.error());
    return;
  }
  if (!parse_number(**group)) {
    device.group_type =
        fail(Errc::malformed, fmt::format("'{}': not a link to a group", system.shown(link)));
    return;
  }
  device.group = *group;
  device.group_type = read_group_type(system, device);
}

/// Reads a function as far as it takes to know that no pattern matches it, and nothing further.
/// Nothing where none does. A function that can't be read may be one of those that are looked
/// for, so it's one, with the error in place of its group's type.
std::optional<PciDevice> read_if_matching(const System& system, const std::string& bdf,
                                          const std::vector<PciMatch>& matches) {
  PciDevice device;
  device.bdf = bdf;
  const auto any = [&](const auto& predicate) {
    return std::any_of(matches.begin(), matches.end(), predicate);
  };

  const auto class_code = read_pci_id(system, pci_path(bdf, "class"), 6);
  if (!class_code) {
    device.group_type = fail(class_code.error());
    return device;
  }
  device.class_code = *class_code;
  const auto by_class = [&](const PciMatch& match) {
    return class_matches(match, device.class_code);
  };
  if (!any(by_class)) return std::nullopt;

  const auto vendor = read_pci_id(system, pci_path(bdf, "vendor"), 4);
  if (!vendor) {
    device.group_type = fail(vendor.error());
    return device;
  }
  device.vendor = static_cast<std::uint16_t>(*vendor);
  const auto by_vendor = [&](const PciMatch& match) {
    return by_class(match) && match.vendor.value_or(device.vendor) == device.vendor;
  };
  if (!any(by_vendor)) return std::nullopt;

  const auto id = read_pci_id(system, pci_path(bdf, "device"), 4);
  if (!id) {
    device.group_type = fail(id.error());
    return device;
  }
  device.device = static_cast<std::uint16_t>(*id);
  const auto by_device = [&](const PciMatch& match) {
    return by_vendor(match) && match.device.value_or(device.device) == device.device;
  };
  if (!any(by_device)) return std::nullopt;

  read_binding(system, device);
  return device;
}

/// Whether the function was unplugged while it was read: the kernel takes the bus's link to it
/// away before its attributes (drivers/base/bus.c bus_remove_device).
bool is_gone(const System& system, const PciDevice& device) {
  if (device.group_type || device.group_type.error().code != Errc::not_found) return false;
  const auto link = system.link_info(fmt::format("{}/{}", pci_devices, device.bdf));
  return !link && link.error().code == Errc::not_found;
}

std::optional<std::uint16_t> parse_id(std::string_view text) {
  if (text.empty() || text.size() > 4) return std::nullopt;
  const auto number = parse_number(text, 16);
  if (!number) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

}  // namespace

bool class_matches(const PciMatch& match, std::uint32_t class_code) {
  return fmt::format("{:06x}", class_code).starts_with(match.class_prefix);
}

Result<PciMatch> parse_pci_match(std::string_view text) {
  const auto malformed = [&] {
    return fail(Errc::malformed,
                fmt::format("'{}': not VENDOR:DEVICE or VENDOR:DEVICE:CLASS in hexadecimal or '*'",
                            printable(text)));
  };
  const auto parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return malformed();
  PciMatch match;
  if (parts[0] != "*") {
    match.vendor = parse_id(parts[0]);
    if (!match.vendor) return malformed();
  }
  if (parts[1] != "*") {
    match.device = parse_id(parts[1]);
    if (!match.device) return malformed();
  }
  if (parts.size() == 3 && parts[2] != "*") {
    if (parts[2].empty() || parts[2].size() > 6 || !is_hex(parts[2])) return malformed();
    match.class_prefix = lower(parts[2]);
  }
  return match;
}

Result<std::vector<PciDevice>> find_pci_devices(const System& system,
                                                const std::vector<PciMatch>& matches) {
  const auto names = system.list(pci_devices);
  if (!names) return fail(names.error());
  std::vector<PciDevice> devices;
  for (const auto& name : *names) {
    if (!is_pci_address(name)) {
      return fail(Errc::malformed, fmt::format("'{}/{}': not the address of a PCI function",
                                               system.shown(pci_devices), printable(name)));
    }
    auto device = read_if_matching(system, name, matches);
    if (device && !is_gone(system, *device)) devices.push_back(std::move(*device));
  }
  return devices;
}

Result<std::vector<PciDevice>> find_rdma_nics(const System& system) {
  PciMatch network;
  network.class_prefix = "02";
  auto devices = find_pci_devices(system, {network});
  if (!devices) return devices;
  constexpr std::uint16_t mellanox = 0x15b3;
  constexpr std::uint32_t infiniband_class = 0x0207;
  std::erase_if(*devices, [&](const PciDevice& device) {
    return device.vendor != mellanox && device.class_code >> 8U != infiniband_class &&
           !system.exists(pci_path(device.bdf, "infiniband"));
  });
  return devices;
}

Result<std::vector<PciDevice>> read_pci_devices(const System& system,
                                                const std::vector<std::string>& bdfs) {
  const std::vector<PciMatch> anything(1);
  std::vector<PciDevice> devices;
  for (const auto& given : bdfs) {
    const auto bdf = whole_pci_address(given);
    if (!bdf) return fail(bdf.error());
    const auto is_it = [&](const PciDevice& device) { return device.bdf == *bdf; };
    if (std::any_of(devices.begin(), devices.end(), is_it)) continue;
    auto device = read_if_matching(system, *bdf, anything);
    if (is_gone(system, *device)) {
      return fail(Errc::not_found, fmt::format("'{}': no such PCI function", *bdf));
    }
    devices.push_back(std::move(*device));
  }
  return devices;
}

}  // namespace peerpath::probe
