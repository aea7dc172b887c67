// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "sys/system.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace peerpath::probe {

/// A function in a group with devices to be checked.
struct GroupMember {
  std::string bdf;
  std::uint32_t class_code = 0;
  std::string driver;  ///< bound driver's name; empty where none is
};

struct IommuGroup {
  std::string number;
  Result<std::vector<GroupMember>> members;  ///< by address; an error where one can't be read
};

/// Of each of these groups, once. Fact: /sys/kernel/iommu_groups/N/devices.
[[nodiscard]] std::vector<IommuGroup> read_iommu_groups(const System& system,
                                                        const std::vector<std::string>& numbers);

}  // namespace peerpath::probe
