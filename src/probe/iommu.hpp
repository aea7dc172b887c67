// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "sys/system.hpp"

#include <string>
#include <vector>

namespace peerpath::probe {

/// What tells whether the machine has an IOMMU and whether the kernel uses it.
struct IommuUnits {
  Result<std::vector<std::string>> units;    ///< /sys/class/iommu: dmar0, ivhd0, smmu3.0x…
  std::vector<std::string> firmware_tables;  ///< of DMAR, IVRS, IORT, VIOT in /sys/firmware/acpi
};

[[nodiscard]] IommuUnits read_iommu_units(const System& system);

}  // namespace peerpath::probe
