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

TEST_CASE("read_iommu_units: Intel's units → whether each can pass through") {
  const auto can = read_iommu_units(*machine("intel-identity"));
  REQUIRE(can.ecap.size() == 2);
  CHECK(can_pass_through(can.ecap.at("dmar0").value()));
  const auto cannot = read_iommu_units(*machine("intel-no-pass-through"));
  REQUIRE(cannot.ecap.size() == 1);
  CHECK_FALSE(can_pass_through(cannot.ecap.at("dmar0").value()));
  CHECK(read_iommu_units(*machine("amd-translated")).ecap.empty());
}

TEST_CASE("read_iommu_units: a register that can't be read → an error that names it") {
  TempRoot root;
  root.directory("/sys/class/iommu/dmar0/intel-iommu").directory("/sys/class/iommu/dmar1");
  root.file("/sys/class/iommu/dmar0/intel-iommu/ecap", "0xf050da\n");
  const auto iommu = read_iommu_units(root.system());
  REQUIRE(iommu.ecap.size() == 2);
  CHECK(iommu.ecap.at("dmar0").error().code == Errc::malformed);
  CHECK(iommu.ecap.at("dmar1").error().code == Errc::not_found);
  CHECK(iommu.ecap.at("dmar1").error().text().find("dmar1/intel-iommu/ecap'") != std::string::npos);
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
