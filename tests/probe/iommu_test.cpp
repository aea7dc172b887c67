// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/iommu.hpp"

#include "probe/machines.hpp"

namespace peerpath::probe {

using test::machine;
using test::TempRoot;
using Names = std::vector<std::string>;

TEST_CASE("read_iommu_units: machines with an IOMMU in use → its units and its table") {
  const auto intel = read_iommu_units(*machine("intel-identity"));
  CHECK(intel.units.value() == Names{"dmar0", "dmar1"});
  CHECK(intel.firmware_tables == Names{"DMAR"});
  const auto amd = read_iommu_units(*machine("amd-translated"));
  CHECK(amd.units.value() == Names{"ivhd0", "ivhd1"});
  CHECK(amd.firmware_tables == Names{"IVRS"});
}

TEST_CASE("read_iommu_units: an IOMMU that the kernel doesn't use → its table only") {
  const auto iommu = read_iommu_units(*machine("intel-off-by-default"));
  CHECK(iommu.units.value().empty());
  CHECK(iommu.firmware_tables == Names{"DMAR"});
}

TEST_CASE("read_iommu_units: no IOMMU → neither") {
  const auto iommu = read_iommu_units(*machine("no-iommu"));
  CHECK(iommu.units.value().empty());
  CHECK(iommu.firmware_tables.empty());
}

TEST_CASE("read_iommu_units: no /sys/class → an error that names it") {
  TempRoot root;
  const auto iommu = read_iommu_units(root.system());
  REQUIRE_FALSE(iommu.units.has_value());
  CHECK(iommu.units.error().text().find("/sys/class'") != std::string::npos);
}

TEST_CASE("read_iommu_units: a file in place of the units → an error that names it") {
  TempRoot root;
  root.link("/sys/class/iommu", "iommu");
  const auto iommu = read_iommu_units(root.system());
  REQUIRE_FALSE(iommu.units.has_value());
  CHECK(iommu.units.error().text().find("/sys/class/iommu'") != std::string::npos);
}

}  // namespace peerpath::probe
