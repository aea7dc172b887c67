// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/pci_config.hpp"

#include <fmt/format.h>

#include <array>

namespace peerpath::probe {
namespace {

// Offsets and values of include/uapi/linux/pci_regs.h.
constexpr std::size_t status = 0x06;
constexpr std::uint16_t status_has_capabilities = 0x10;
constexpr std::size_t header_type = 0x0e;
constexpr std::uint16_t express_capability = 0x10;
constexpr std::uint16_t acs_capability = 0x000d;
constexpr std::size_t first_extended = 0x100;
// A list can't have more entries than fit, so a longer one goes round in circles.
constexpr int most_capabilities = 48;
constexpr int most_extended = (4096 - 256) / 8;

struct Range {
  std::uint16_t first;
  std::uint16_t last;
};

template <std::size_t count>
bool is_in(const std::array<Range, count>& ranges, std::uint16_t value) {
  for (const auto& range : ranges) {
    if (value >= range.first && value <= range.last) return true;
  }
  return false;
}

constexpr std::uint16_t intel = 0x8086;
/// Root ports whose ACS registers are two dwords, so that the control is at +8.
/// Fact: drivers/pci/quirks.c pci_quirk_intel_spt_pch_acs_match.
constexpr std::array<Range, 5> wide_acs{
    {{0xa110, 0xa11f}, {0xa167, 0xa16a}, {0xa290, 0xa29f}, {0xa2e7, 0xa2ee}, {0x9d10, 0x9d1b}}};
/// Root ports that do the same by registers of the chipset, without the capability.
/// Fact: drivers/pci/quirks.c pci_quirk_intel_pch_acs_ids.
constexpr std::array<Range, 9> chipset_acs{{{0x3b42, 0x3b51},
                                            {0x1c10, 0x1c1f},
                                            {0x1e10, 0x1e1f},
                                            {0x8c10, 0x8c1f},
                                            {0x9c10, 0x9c1b},
                                            {0x9c90, 0x9c9b},
                                            {0x1d10, 0x1d1f},
                                            {0x8d10, 0x8d1f},
                                            {0x8c90, 0x8c9f}}};

/// GT/s of a link speed's code. Fact: PCIe Base Specification 7.5.3.6, Max Link Speed.
double speed_of(unsigned code) {
  constexpr std::array<double, 7> speeds{0, 2.5, 5, 8, 16, 32, 64};
  return code < speeds.size() ? speeds[code] : 0;
}

PciLink decode_link(std::uint32_t capabilities, std::uint16_t now) {
  PciLink link;
  link.max_speed = speed_of(capabilities & 0xfU);
  link.max_width = (capabilities >> 4U) & 0x3fU;
  link.speed = speed_of(now & 0xfU);
  link.width = (static_cast<unsigned>(now) >> 4U) & 0x3fU;
  return link;
}

}  // namespace

std::optional<std::uint16_t> PciConfig::word(std::size_t offset) const {
  if (offset + 2 > bytes_.size()) return std::nullopt;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes_[at]); };
  return static_cast<std::uint16_t>(byte(offset) | (byte(offset + 1) << 8U));
}

std::optional<std::uint32_t> PciConfig::dword(std::size_t offset) const {
  const auto low = word(offset);
  const auto high = word(offset + 2);
  if (!low || !high) return std::nullopt;
  return static_cast<std::uint32_t>(*low) | (static_cast<std::uint32_t>(*high) << 16U);
}

/// Whether that many bytes were read, of a function that answers.
Result<> PciConfig::confirm_whole(std::size_t needed) const {
  if (size() >= 4 && dword(0) == 0xffffffffU && dword(0x08) == 0xffffffffU) {
    return fail(Errc::unsupported,
                "its configuration space reads as all ones: it's without power, or gone");
  }
  if (size() >= needed) return {};
  if (size() == public_size) {
    return fail(Errc::denied, "only root may read its configuration space beyond 64 bytes");
  }
  return fail(Errc::malformed,
              fmt::format("its configuration space could only be read up to byte {}", size()));
}

Result<std::optional<std::size_t>> PciConfig::find_express() const {
  if (const auto whole = confirm_whole(conventional_size); !whole) return fail(whole.error());
  if ((*word(status) & status_has_capabilities) == 0) return std::nullopt;
  const unsigned layout = *word(header_type) & 0x7fU;
  std::size_t at = *word(layout == 2 ? 0x14 : 0x34) & 0xfcU;
  for (int i = 0; i < most_capabilities; ++i) {
    if (at == 0) return std::nullopt;
    if (at < public_size) break;
    const auto entry = *word(at);
    if ((entry & 0xffU) == 0xff) break;
    if ((entry & 0xffU) == express_capability) return at;
    at = (entry >> 8U) & 0xfcU;
  }
  return fail(Errc::malformed, "its list of capabilities is broken");
}

Result<PortType> PciConfig::port_type() const {
  const auto express = find_express();
  if (!express) return fail(express.error());
  if (!*express) return PortType::conventional;
  const auto flags = word(**express + 2);
  if (!flags) return fail(Errc::malformed, "its PCI Express capability is cut short");
  const unsigned code = (static_cast<unsigned>(*flags) >> 4U) & 0xfU;
  switch (code) {
    case 0x0:
    case 0x1:
    case 0x9:
    case 0xa:
      return PortType::endpoint;
    case 0x4:
      return PortType::root_port;
    case 0x5:
      return PortType::upstream_port;
    case 0x6:
      return PortType::downstream_port;
    case 0x7:
      return PortType::pcie_to_pci;
    case 0x8:
      return PortType::pci_to_pcie;
    default:
      return fail(Errc::malformed, fmt::format("it has an unknown type of port, {:#x}", code));
  }
}

bool PciConfig::needs_port_above() const {
  const auto express = find_express();
  if (!express || !*express) return false;
  const auto flags = word(**express + 2);
  if (!flags) return false;
  const unsigned code = (static_cast<unsigned>(*flags) >> 4U) & 0xfU;
  return code == 0x0 || code == 0x1 || code == 0x5 || code == 0x6 || code == 0x7;
}

/// The list proper, in a space that was read to its end.
Result<std::optional<std::size_t>> PciConfig::walk_extended(std::uint16_t id) const {
  std::size_t at = first_extended;
  for (int i = 0; i < most_extended; ++i) {
    const auto header = dword(at);
    if (!header || *header == 0xffffffffU) break;
    if (at == first_extended && *header == 0) return std::nullopt;
    if ((*header & 0xffffU) == id) return at;
    at = (*header >> 20U) & 0xffcU;
    if (at == 0) return std::nullopt;
    if (at < first_extended) break;
  }
  return fail(Errc::malformed, "its list of extended capabilities is broken");
}

Result<std::optional<std::size_t>> PciConfig::find_extended(std::uint16_t id) const {
  if (size() == conventional_size) {
    return fail(Errc::unsupported,
                "only 256 bytes of its configuration space are there: ACS stands beyond them");
  }
  if (const auto whole = confirm_whole(extended_size); !whole) return fail(whole.error());
  if (dword(first_extended) == 0xffffffffU) {
    return fail(Errc::unsupported,
                "its extended configuration space, where ACS stands, reads as all ones: this "
                "machine gives no access to it");
  }
  return walk_extended(id);
}

Result<std::optional<Acs>> PciConfig::acs(std::uint16_t vendor, std::uint16_t device) const {
  const auto type = port_type();
  if (!type) return fail(type.error());
  if (*type == PortType::conventional) return std::nullopt;
  const auto at = find_extended(acs_capability);
  if (!at) return fail(at.error());
  const bool intel_port = vendor == intel && *type == PortType::root_port;
  if (!*at) {
    if (intel_port && is_in(chipset_acs, device)) {
      return fail(Errc::unsupported,
                  "this Intel chipset's root ports have no ACS capability: registers of the "
                  "chipset, which aren't read here, stand in for it");
    }
    return std::nullopt;
  }
  const bool wide = intel_port && is_in(wide_acs, device);
  const auto capability = word(**at + 4);
  const auto control = word(**at + (wide ? 8 : 6));
  if (!capability || !control) return fail(Errc::malformed, "its ACS capability is cut short");
  return Acs{*capability, *control, wide ? "ACSCtl at +8, as this Intel chipset has it" : "ACSCtl"};
}

Result<std::optional<PciLink>> PciConfig::link() const {
  const auto express = find_express();
  if (!express) return fail(express.error());
  if (!*express) return std::nullopt;
  const auto capabilities = dword(**express + 0x0c);
  const auto now = word(**express + 0x12);
  if (!capabilities || !now) {
    return fail(Errc::malformed, "its PCI Express capability is cut short");
  }
  const auto link = decode_link(*capabilities, *now);
  if (link.max_width == 0) return std::nullopt;
  return link;
}

std::optional<PciBuses> PciConfig::buses() const {
  const auto type = word(header_type);
  const auto numbers = dword(0x18);
  if (!type || !numbers || (*type & 0x7fU) != 1) return std::nullopt;
  const PciBuses buses{(*numbers >> 8U) & 0xffU, (*numbers >> 16U) & 0xffU};
  if (buses.secondary == 0 || buses.subordinate < buses.secondary) return std::nullopt;
  return buses;
}

}  // namespace peerpath::probe
