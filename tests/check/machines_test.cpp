// SPDX-License-Identifier: GPL-2.0-or-later
// The recorded machines, from their files to the findings.
#include "check/sample.hpp"
#include "sys/system.hpp"

namespace peerpath::check {

using namespace test;

namespace {

Facts read_machine(const std::string& name) {
  const auto system = System::open(std::string(PEERPATH_TESTS_DIR) + "/fixtures/verify/" + name);
  REQUIRE(system.has_value());
  Facts facts;
  facts.command_line = (*system)->read("/proc/cmdline");
  facts.kernel = probe::read_kernel(**system);
  facts.match_list = "10de:*:0300 10de:*:0302";
  facts.devices = probe::find_pci_devices(
      **system, {*probe::parse_pci_match("10de:*:0300"), *probe::parse_pci_match("10de:*:0302")});
  facts.iommu = probe::read_iommu_units(**system);
  facts.machine = probe::read_machine(**system, facts.kernel);
  facts.log = probe::read_kernel_log(**system);
  facts.configured = fail(Errc::not_found, "no boot configuration");
  return facts;
}

struct Row {
  std::string machine;
  Status group_type;  ///< of every device
  Status effective;
  Status conflict;
  Status default_domain;
  Status faults;
};

constexpr auto ok = Status::ok;
constexpr auto warn = Status::warn;
constexpr auto failed = Status::fail;
constexpr auto unknown = Status::unknown;
constexpr auto not_applicable = Status::not_applicable;

}  // namespace

TEST_CASE("checks: each recorded machine → its statuses") {
  const std::vector<Row> rows{
      {"intel-identity", ok, ok, ok, ok, ok},
      {"intel-translated", failed, failed, not_applicable, ok, ok},
      {"intel-contrary", failed, failed, failed, ok, ok},
      {"intel-no-pass-through", failed, ok, failed, warn, ok},
      {"intel-off-by-default", ok, ok, not_applicable, not_applicable, ok},
      {"no-iommu", ok, not_applicable, not_applicable, not_applicable, ok},
      {"no-gpu", not_applicable, not_applicable, not_applicable, not_applicable, not_applicable},
      {"rhel-8.0", unknown, ok, unknown, not_applicable, ok},
      {"amd-translated", failed, failed, failed, ok, warn},
      {"amd-by-chance", ok, warn, not_applicable, warn, ok},
      {"vfio-bound", ok, ok, ok, ok, ok},
      {"bootconfig", failed, failed, failed, ok, ok},
      {"arm64-iommu-pt", failed, failed, failed, ok, ok},
  };
  for (const auto& row : rows) {
    INFO(row.machine);
    const auto facts = read_machine(row.machine);
    const auto devices = run(iommu_group_type, facts);
    CHECK(devices.size() == (row.machine == "no-gpu" ? 1 : 2));
    for (const auto& finding : devices)
      CHECK(finding.status == row.group_type);
    CHECK(run_one(cmdline_effective, facts).status == row.effective);
    CHECK(run_one(cmdline_conflict, facts).status == row.conflict);
    CHECK(run_one(iommu_default_domain, facts).status == row.default_domain);
    CHECK(run_one(boot_pending_reboot, facts).status == not_applicable);
    const bool nothing = row.machine == "no-gpu";
    CHECK(run_one(platform_virtual_machine, facts).status == (nothing ? not_applicable : ok));
    CHECK(run_one(platform_direct_link, facts).status == not_applicable);
    CHECK(run_one(cmdline_fwupd, facts).status == (nothing ? not_applicable : ok));
    CHECK(run_one(kernel_dma_faults, facts).status == row.faults);
  }
}

TEST_CASE("cmdline.conflict: the recorded machine that can't pass through → its unit is named") {
  const auto finding = run_one(cmdline_conflict, read_machine("intel-no-pass-through"));
  CHECK(contains(finding.cause, "the Intel IOMMU dmar0 can't pass through"));
  CHECK(has_evidence(finding, "bit 6 (PT) is clear"));
}

TEST_CASE("checks: a root with nothing in it → unknown throughout, never ok") {
  const auto facts = read_machine("no-iommu/boot");
  CHECK(run_one(iommu_group_type, facts).status == unknown);
  CHECK(run_one(cmdline_effective, facts).status == unknown);
  CHECK(run_one(cmdline_conflict, facts).status == unknown);
  CHECK(run_one(iommu_default_domain, facts).status == unknown);
  CHECK(run_one(boot_pending_reboot, facts).status == unknown);
  CHECK(run_one(platform_virtual_machine, facts).status == unknown);
  CHECK(run_one(platform_direct_link, facts).status == unknown);
  CHECK(run_one(cmdline_fwupd, facts).status == unknown);
  CHECK(run_one(kernel_dma_faults, facts).status == unknown);
}

}  // namespace peerpath::check
