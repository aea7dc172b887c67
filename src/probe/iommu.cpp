// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/iommu.hpp"

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

}  // namespace

IommuUnits read_iommu_units(const System& system) {
  constexpr std::array<std::string_view, 4> tables{"DMAR", "IVRS", "IORT", "VIOT"};
  IommuUnits result{read_units(system), {}};
  for (const auto table : tables) {
    // Only root may read a table; that it's there, anyone may see.
    if (system.exists("/sys/firmware/acpi/tables/" + std::string(table))) {
      result.firmware_tables.emplace_back(table);
    }
  }
  return result;
}

}  // namespace peerpath::probe
