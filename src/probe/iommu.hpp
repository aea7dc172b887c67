// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "sys/system.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace peerpath::probe {

/// What tells whether the machine has an IOMMU and whether the kernel uses it.
struct IommuUnits {
  Result<std::vector<std::string>> units;    ///< /sys/class/iommu: dmar0, ivhd0, smmu3.0x…
  std::vector<std::string> firmware_tables;  ///< of DMAR, IVRS, IORT, VIOT in /sys/firmware/acpi
  /// Extended capability register of each of Intel's units, by its name.
  std::map<std::string, Result<std::uint64_t>> ecap;
};

/// ECAP.PT: the unit can pass a device's addresses through. Facts: VT-d specification 11.4.3,
/// drivers/iommu/intel/iommu.h ecap_pass_through.
[[nodiscard]] constexpr bool can_pass_through(std::uint64_t ecap) {
  return (ecap >> 6 & 1) != 0;
}

[[nodiscard]] IommuUnits read_iommu_units(const System& system);

}  // namespace peerpath::probe
