// SPDX-License-Identifier: GPL-2.0-or-later
// The rows of the kernel's truth table that reach past the command line: what the machine is like,
// and what the kernel makes of it. tests/cmdline/truth_table.tsv has the others.
#include "check/sample.hpp"

namespace peerpath::check {

using namespace test;

namespace {

constexpr auto ok = Status::ok;
constexpr auto warn = Status::warn;
constexpr auto failed = Status::fail;
constexpr auto unknown = Status::unknown;
constexpr auto not_applicable = Status::not_applicable;

struct Row {
  int number;  ///< in the table
  std::string words;
  std::optional<std::string> type;  ///< what the kernel then shows; nothing: no group
  Status group_type;
  Status effective;
  Status conflict;
  std::string conflict_says;  ///< part of the cause or of the evidence of cmdline.conflict
  void (*change)(Facts& facts);
};

void as_it_is(Facts& /*facts*/) {}

void off_by_default(Facts& facts) {
  facts.kernel.config->intel_default_on = false;
  facts.iommu.units = std::vector<std::string>{};
}

void turned_off(Facts& facts) {
  facts.iommu.units = std::vector<std::string>{};
}

void untrusted(Facts& facts) {
  probe::PciTree tree;
  tree.nodes["0000:3b:00.0"].removable = true;
  facts.tree = tree;
}

void amd(Facts& facts) {
  facts.iommu.units = std::vector<std::string>{"ivhd0"};
  facts.iommu.firmware_tables = {"IVRS"};
}

void amd_turned_off(Facts& facts) {
  amd(facts);
  facts.iommu.units = std::vector<std::string>{};
}

void amd_encrypted(Facts& facts) {
  amd(facts);
  facts.machine.memory_encryption = true;
}

void amd_encrypted_by_default_passthrough(Facts& facts) {
  amd_encrypted(facts);
  facts.kernel.config->default_domain = probe::KernelConfig::Default::passthrough;
  facts.log->memory_encryption = probe::LogLine{
      0.4, "iommu: Memory encryption detected - Disabling default IOMMU Passthrough"};
}

void amd_snp(Facts& facts) {
  amd(facts);
  facts.machine.snp_host = true;
}

void amd_untrusted(Facts& facts) {
  amd(facts);
  untrusted(facts);
}

void linux_4_19(Facts& facts) {
  facts.kernel.release = "4.19.0-27-amd64";
}

void arm64(Facts& facts) {
  facts.kernel.machine = "aarch64";
  facts.kernel.config->default_domain = probe::KernelConfig::Default::strict;
  facts.iommu.units = std::vector<std::string>{"smmu3.0x0000000000000000"};
  facts.iommu.firmware_tables = {"IORT"};
  facts.machine.booted_by_kexec = fail(Errc::not_found, "nothing tells");
}

void arm64_default_passthrough(Facts& facts) {
  arm64(facts);
  facts.kernel.config->default_domain = probe::KernelConfig::Default::passthrough;
}

void virtual_iommu(Facts& facts) {
  facts.iommu.units = std::vector<std::string>{"0000:00:01.0"};
  facts.iommu.firmware_tables = {"VIOT"};
  facts.machine.hypervisor = "qemu";
}

void no_iommu(Facts& facts) {
  facts.iommu.units = std::vector<std::string>{};
  facts.iommu.firmware_tables.clear();
}

const std::vector<Row> rows{
    {2, "", std::nullopt, ok, ok, not_applicable, "", off_by_default},
    {3, "iommu=pt", std::nullopt, ok, ok, ok, "leaves the IOMMU off", off_by_default},
    {8, "intel_iommu=off iommu=pt", std::nullopt, ok, ok, ok, "", turned_off},
    {21, "iommu=off,pt", std::nullopt, ok, ok, ok, "", turned_off},
    {35, "iommu=pt", "DMA", failed, ok, failed, "0000:3b:00.0 is untrusted", untrusted},
    {38, "", "identity", ok, warn, not_applicable, "", as_it_is},
    {39, "intel_iommu=off", std::nullopt, ok, ok, ok, "", turned_off},
    {40, "intel_iommu=on,igfx_off", "identity", ok, warn, not_applicable, "", as_it_is},
    {41, "intel_iommu=on,igfx_off", "DMA-FQ", failed, failed, not_applicable, "", as_it_is},
    {43, "intel_iommu=on iommu=pt", "unknown", unknown, ok, unknown, "can't be told", linux_4_19},
    {50, "amd_iommu=off iommu=pt", std::nullopt, ok, ok, ok, "", amd_turned_off},
    {53, "", "DMA-FQ", failed, failed, not_applicable, "", amd_encrypted_by_default_passthrough},
    {54, "iommu=pt", "identity", ok, ok, ok, "", amd_encrypted},
    {56, "iommu=pt", "identity", ok, ok, ok, "", amd_snp},
    {58, "iommu=pt", "DMA", failed, ok, failed, "0000:3b:00.0 is untrusted", amd_untrusted},
    {60, "", "DMA", failed, failed, not_applicable, "", arm64},
    {62, "iommu.passthrough=1", "identity", ok, ok, ok, "", arm64},
    {64, "iommu.passthrough=0", "DMA-FQ", failed, failed, not_applicable, "",
     arm64_default_passthrough},
    {65, "arm-smmu.disable_bypass=0", "DMA", failed, failed, not_applicable, "", arm64},
    {66, "iommu.passthrough=1", "identity", ok, ok, ok, "", virtual_iommu},
    {68, "iommu=pt", std::nullopt, ok, ok, ok, "the firmware has it off", no_iommu},
    {68, "", std::nullopt, ok, not_applicable, not_applicable, "", no_iommu},
};

Facts facts_of(const Row& row) {
  auto facts = host(row.words, {gpu(row.type)});
  facts.kernel.release = "6.12.30+deb13-amd64";
  facts.iommu.ecap["dmar0"] = 0xf050da;
  facts.configured = fail(Errc::not_found, "no boot configuration");
  facts.log->from_start = true;
  row.change(facts);
  return facts;
}

bool says(const Finding& finding, std::string_view text) {
  return contains(finding.cause, text) || has_evidence(finding, text);
}

}  // namespace

TEST_CASE("truth table: each row past the command line → the statuses, and what's named") {
  for (const auto& row : rows) {
    INFO("row " << row.number << ": '" << row.words << "'");
    const auto facts = facts_of(row);
    CHECK(run_one(iommu_group_type, facts).status == row.group_type);
    CHECK(run_one(cmdline_effective, facts).status == row.effective);
    const auto conflict = run_one(cmdline_conflict, facts);
    CHECK(conflict.status == row.conflict);
    INFO(conflict.cause);
    CHECK(says(conflict, row.conflict_says));
    CHECK_FALSE(contains(conflict.cause, "it's one of"));
  }
}

TEST_CASE("truth table: row 44, no type file on RHEL 8.0 → unknown, the words a weak hint") {
  auto facts = host("intel_iommu=on iommu=pt", {untold_gpu()});
  facts.kernel.release = "4.18.0-80.el8.x86_64";
  CHECK(run_one(iommu_group_type, facts).status == unknown);
  CHECK(run_one(cmdline_effective, facts).status == ok);
  CHECK(run_one(cmdline_conflict, facts).status == unknown);
}

TEST_CASE(
    "truth table: row 53, memory encryption resets the default → the device's cause says it") {
  auto facts = host("", {gpu("DMA-FQ")});
  amd_encrypted_by_default_passthrough(facts);
  CHECK(contains(run_one(iommu_group_type, facts).cause, "memory encryption takes it away"));
}

TEST_CASE("truth table: row 68 in a virtual machine → said not to be this kernel's to decide") {
  auto facts = host_without_iommu("iommu=pt");
  facts.machine.hypervisor = "kvm";
  CHECK(run_one(platform_virtual_machine, facts).status == not_applicable);
}

}  // namespace peerpath::check
