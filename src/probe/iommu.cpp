// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/iommu.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <array>

namespace peerpath::probe {
namespace {

Result<std::vector<std::string>> read_units(const System& system) {
  auto units = system.list("/sys/class/iommu");
  if (units || units.error().code != Errc::not_found) return units;
  // A kernel without CONFIG_IOMMU_API hasn't got the class, but it has others.
  auto classes = system.list("/sys/class");
  if (!classes) return fail(classes.error());
  return std::vector<std::string>{};
}

/// Fact: drivers/iommu/intel/iommu.c ecap_show: hexadecimal, without 0x, for everyone to read.
Result<std::uint64_t> read_ecap(const System& system, const std::string& unit) {
  const auto path = fmt::format("/sys/class/iommu/{}/intel-iommu/ecap", unit);
  const auto text = system.read(path, 4096);
  if (!text) return fail(text.error());
  const auto value = parse_number(trim(*text), 16);
  if (!value) {
    return fail(Errc::malformed, fmt::format("'{}': not a hexadecimal number", system.shown(path)));
  }
  return *value;
}

}  // namespace

IommuUnits read_iommu_units(const System& system) {
  constexpr std::array<std::string_view, 4> tables{"DMAR", "IVRS", "IORT", "VIOT"};
  IommuUnits result{read_units(system), {}, {}};
  for (const auto table : tables) {
    // Only root may read a table; that it's there, anyone may see.
    if (system.exists("/sys/firmware/acpi/tables/" + std::string(table))) {
      result.firmware_tables.emplace_back(table);
    }
  }
  if (!result.units) return result;
  for (const auto& unit : *result.units) {
    if (unit.starts_with("dmar")) result.ecap.emplace(unit, read_ecap(system, unit));
  }
  return result;
}

}  // namespace peerpath::probe
