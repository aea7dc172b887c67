// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "support/catch.hpp"
#include "support/temp_root.hpp"
#include "sys/system.hpp"

#include <memory>
#include <string>

namespace peerpath::test {

/// A recorded machine under tests/fixtures/verify.
inline std::unique_ptr<System> machine(const std::string& name) {
  auto system = System::open(std::string(PEERPATH_TESTS_DIR) + "/fixtures/verify/" + name);
  REQUIRE(system.has_value());
  return std::move(*system);
}

/// Adds an NVIDIA GPU with its links as in a real sysfs; `group` without a `type` file.
inline void add_gpu(TempRoot& root, const std::string& bdf, const std::string& group) {
  const auto device = "/sys/devices/pci0000:00/" + bdf;
  root.file(device + "/class", "0x030200\n");
  root.file(device + "/vendor", "0x10de\n");
  root.file(device + "/device", "0x2330\n");
  root.link(device + "/driver", "../../../bus/pci/drivers/nvidia");
  root.link(device + "/iommu_group", "../../../kernel/iommu_groups/" + group);
  root.link("/sys/bus/pci/devices/" + bdf, "../../../devices/pci0000:00/" + bdf);
  root.directory("/sys/kernel/iommu_groups/" + group);
}

}  // namespace peerpath::test
