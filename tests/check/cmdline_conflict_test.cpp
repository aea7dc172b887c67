// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/sample.hpp"

namespace peerpath::check {

using namespace test;

namespace {

Status status_of(const Facts& facts) {
  return run_one(cmdline_conflict, facts).status;
}

/// Asked for and in force, and the GPU is translated.
Facts overruled(const std::string& words = "iommu=pt") {
  return host(words, {gpu("DMA")});
}

/// The GPU under a root port, as the kernel tells of ports for external devices.
probe::PciTree tree_with(const std::optional<bool>& port, const std::optional<bool>& device) {
  probe::PciTree tree;
  tree.nodes["0000:3b:00.0"].parent = "0000:00:02.0";
  tree.nodes["0000:3b:00.0"].removable = device;
  tree.nodes["0000:00:02.0"].removable = port;
  tree.devices = {"0000:3b:00.0"};
  return tree;
}

}  // namespace

TEST_CASE("cmdline.conflict: what's asked for is in force → ok") {
  CHECK(status_of(host("iommu=pt", {gpu("identity")})) == Status::ok);
  CHECK(status_of(host("iommu=nopt iommu=pt", {gpu("identity")})) == Status::ok);
  CHECK(status_of(host("iommu=PT iommu=pt", {gpu("identity")})) == Status::ok);
  CHECK(status_of(host("iommu=off", {gpu(std::nullopt)})) == Status::ok);
  CHECK(status_of(host_without_iommu("iommu=pt")) == Status::ok);
}

TEST_CASE("cmdline.conflict: nothing asks for passthrough → not applicable") {
  for (const auto* words : {"quiet", "iommu=nopt"}) {
    auto facts = host(words, {gpu("DMA-FQ")});
    facts.configured->mode = cmdline::Mode::kernel_default;
    CHECK(status_of(facts) == Status::not_applicable);
    facts.configured = fail(Errc::not_found, "no boot configuration");
    CHECK(status_of(facts) == Status::not_applicable);
  }
  CHECK(status_of(host("quiet", {gpu("identity")})) == Status::not_applicable);
}

TEST_CASE("cmdline.conflict: asked for in vain and translated → fail naming the word and why") {
  struct Row {
    std::string words;
    std::string named;
  };
  const std::vector<Row> rows{
      {"iommu=pt iommu=nopt", "'iommu=pt' isn't in force: overridden by 'iommu=nopt'"},
      {"iommu=pt iommu.passthrough=0", "overridden by 'iommu.passthrough=0'"},
      {"quiet -- iommu=pt", "'iommu=pt' isn't in force: after '--'"},
      {"intel_iommu=pt", "'intel_iommu=pt' isn't in force: "},
      {"iommu=PT", "'iommu=PT' isn't in force: "},
      {"amd_iommu=off", "'amd_iommu=off' isn't in force: "},
  };
  for (const auto& row : rows) {
    const auto finding = run_one(cmdline_conflict, host(row.words, {gpu("DMA-FQ")}));
    INFO(row.words << ": " << finding.cause);
    CHECK(finding.status == Status::fail);
    CHECK(contains(finding.cause, row.named));
    CHECK(has_evidence(finding, "DMA-FQ"));
  }
}

TEST_CASE("cmdline.conflict: a later word overrides → the remedy takes that one away") {
  auto facts = host("iommu=pt iommu=nopt", {gpu("DMA-FQ")});
  facts.configured->mode = cmdline::Mode::translated;
  const auto finding = run_one(cmdline_conflict, facts);
  CHECK(finding.remedy ==
        "take 'iommu=nopt' off the kernel command line, run 'peerpath ensure', then reboot");
}

TEST_CASE("cmdline.conflict: x86 word on arm64 and translated → fail naming it") {
  auto facts = host("iommu=pt", {gpu("DMA")});
  facts.kernel.machine = "aarch64";
  const auto finding = run_one(cmdline_conflict, facts);
  CHECK(finding.status == Status::fail);
  CHECK(contains(finding.cause, "'iommu=pt' isn't in force: "));
  CHECK(contains(finding.cause, "arm64"));
}

TEST_CASE("cmdline.conflict: word past the longest command line → fail naming it") {
  const auto finding =
      run_one(cmdline_conflict, host(std::string(2100, 'x') + " iommu=pt", {gpu("DMA-FQ")}));
  CHECK(finding.status == Status::fail);
  CHECK(contains(finding.cause, "'iommu=pt' isn't in force: beyond"));
}

TEST_CASE("cmdline.conflict: asked for in a bootconfig and translated → fail naming it") {
  auto facts = host("quiet", {gpu("DMA-FQ")});
  facts.kernel.bootconfig = "kernel.iommu = \"pt\"\n";
  facts.command_line = "iommu=\"pt\" " + *facts.command_line;
  const auto finding = run_one(cmdline_conflict, facts);
  CHECK(finding.status == Status::fail);
  CHECK(contains(finding.cause,
                 "'iommu=\"pt\"' isn't in force: it comes from the kernel's bootconfig"));
}

TEST_CASE("cmdline.conflict: asked for in vain, yet nothing is translated → warn") {
  const auto finding = run_one(cmdline_conflict, host("iommu=PT", {gpu("identity")}));
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.cause, "'iommu=PT'"));
}

TEST_CASE("cmdline.conflict: another vendor's `off` and nothing is translated → ok") {
  CHECK(status_of(host("amd_iommu=off", {gpu("identity")})) == Status::ok);
}

TEST_CASE("cmdline.conflict: in force and translated → fail naming every candidate") {
  auto facts = host("iommu=pt", {gpu("identity"), gpu("DMA", "0000:5e:00.0")});
  facts.kernel.release = "6.12.30+deb13-amd64";
  const auto finding = run_one(cmdline_conflict, facts);
  CHECK(finding.status == Status::fail);
  CHECK(contains(finding.cause, "why can't be told from here"));
  CHECK(contains(finding.cause, "untrusted"));
  CHECK(contains(finding.cause, "intel-iommu/ecap"));
  REQUIRE(finding.evidence.size() == 2);
  CHECK(contains(finding.evidence[1].source, "0000:5e:00.0"));
}

TEST_CASE("cmdline.conflict: in force and translated by AMD → no candidate of Intel's") {
  auto facts = host("iommu=pt", {gpu("DMA-FQ")});
  facts.iommu.units = std::vector<std::string>{"ivhd0"};
  CHECK_FALSE(contains(run_one(cmdline_conflict, facts).cause, "Intel"));
}

TEST_CASE("cmdline.conflict: turned off and translated → fail, firmware may require it") {
  const auto finding = run_one(cmdline_conflict, host("iommu=off", {gpu("DMA-FQ")}));
  CHECK(finding.status == Status::fail);
  CHECK(contains(finding.cause, "tboot may have required it"));
}

TEST_CASE("cmdline.conflict: only the boot configuration asks → fail: not rebooted since") {
  const auto finding = run_one(cmdline_conflict, host("quiet", {gpu("DMA-FQ")}));
  CHECK(finding.status == Status::fail);
  CHECK(contains(finding.cause, "this boot began without it"));
  CHECK(finding.remedy == "reboot");
}

TEST_CASE("cmdline.conflict: only the boot configuration asks, kexec booted → fail naming kexec") {
  auto facts = host("quiet", {gpu("DMA-FQ")});
  facts.machine.booted_by_kexec = true;
  const auto finding = run_one(cmdline_conflict, facts);
  CHECK(finding.status == Status::fail);
  CHECK(contains(finding.cause, "kexec started this kernel"));
  CHECK(has_evidence(finding, "kexec"));
}

TEST_CASE("cmdline.conflict: a vain word, right by now in the boot configuration → fail: reboot") {
  const auto finding = run_one(cmdline_conflict, host("iommu=PT", {gpu("DMA-FQ")}));
  CHECK(contains(finding.cause, "'iommu=PT' isn't in force: "));
  CHECK(contains(finding.cause, "this boot began without it"));
  CHECK(finding.remedy == "reboot");
}

TEST_CASE("cmdline.conflict: untrusted device → fail naming the port") {
  auto facts = overruled();
  facts.tree = GENERATE(tree_with(std::nullopt, true), tree_with(true, false));
  const auto finding = run_one(cmdline_conflict, facts);
  CHECK(finding.status == Status::fail);
  CHECK(finding.cause ==
        "'iommu=pt' is in force, but the kernel decided otherwise: 0000:3b:00.0 is untrusted, "
        "behind a port for external devices, which the kernel always translates");
  CHECK(has_evidence(finding, "removable"));
}

TEST_CASE("cmdline.conflict: a fixed device → an untrusted port is no candidate") {
  auto facts = overruled();
  facts.tree = tree_with(std::nullopt, false);
  CHECK_FALSE(contains(run_one(cmdline_conflict, facts).cause, "untrusted"));
}

TEST_CASE("cmdline.conflict: no pass-through in hardware → fail naming the unit") {
  auto facts = overruled();
  facts.kernel.release = GENERATE("6.12.30+deb13-amd64", "5.14.0-570.el9.x86_64");
  facts.iommu.ecap["dmar0"] = 0xf0101e;
  const auto finding = run_one(cmdline_conflict, facts);
  CHECK(finding.status == Status::fail);
  CHECK(contains(finding.cause, "the Intel IOMMU dmar0 can't pass through"));
  CHECK_FALSE(contains(finding.cause, "why can't be told"));
  CHECK_FALSE(contains(finding.cause, "may be behind it"));
  CHECK(has_evidence(finding, "f0101e: bit 6 (PT) is clear"));
  facts.iommu.ecap["dmar1"] = 0xf050da;
  CHECK(contains(run_one(cmdline_conflict, facts).cause, "may be behind it"));
}

TEST_CASE("cmdline.conflict: hardware that can, or a kernel that emulates it → no candidate") {
  auto facts = overruled();
  facts.kernel.release = "6.12.30";
  facts.iommu.ecap["dmar0"] = 0xf050da;
  CHECK_FALSE(contains(run_one(cmdline_conflict, facts).cause, "ecap"));
  facts.iommu.ecap["dmar0"] = 0xf0101e;
  facts.kernel.release = "6.8.0-60-generic";
  CHECK_FALSE(contains(run_one(cmdline_conflict, facts).cause, "can't pass through"));
}

TEST_CASE("cmdline.conflict: a domain that couldn't be allocated → fail with the log's line") {
  auto facts = overruled();
  const std::string line =
      "iommu: Failed to allocate default IOMMU domain of type 4 for group 12 - Falling back to "
      "IOMMU_DOMAIN_DMA";
  facts.log->domain_lines = {{1.5, line}};
  const auto finding = run_one(cmdline_conflict, facts);
  CHECK(contains(finding.cause, "the kernel could not give 0000:3b:00.0 that domain"));
  CHECK(has_evidence(finding, line));
}

TEST_CASE("cmdline.conflict: log lines about other groups → not this device's cause") {
  auto facts = overruled();
  facts.log->domain_lines = {{1.5,
                              "iommu: Failed to allocate default IOMMU domain of type 4 for "
                              "group 120 - Falling back to IOMMU_DOMAIN_DMA"}};
  CHECK(contains(run_one(cmdline_conflict, facts).cause, "why can't be told"));
  facts.log->from_start = true;
  CHECK_FALSE(contains(run_one(cmdline_conflict, facts).cause, "set up an identity domain"));
}

TEST_CASE("cmdline.conflict: AMD's host of SEV-SNP guests → fail naming SNP") {
  auto facts = overruled();
  facts.iommu.units = std::vector<std::string>{"ivhd0"};
  facts.machine.snp_host = true;
  const auto finding = run_one(cmdline_conflict, facts);
  CHECK(contains(finding.cause, "SEV-SNP"));
  CHECK_FALSE(contains(finding.cause, "why can't be told"));
  facts.machine.snp_host = false;
  CHECK_FALSE(contains(run_one(cmdline_conflict, facts).cause, "SEV-SNP"));
}

TEST_CASE("cmdline.conflict: sources that can't be read → the candidates say so") {
  auto facts = overruled();
  facts.kernel.release = "6.12.30";
  facts.tree = fail(Errc::denied, "'/sys/tree': permission denied");
  facts.log = fail(Errc::denied, "'/dev/kmsg': permission denied");
  facts.iommu.ecap["dmar0"] = fail(Errc::denied, "'/sys/ecap': permission denied");
  const auto finding = run_one(cmdline_conflict, facts);
  CHECK(finding.status == Status::fail);
  for (const auto* path : {"'/sys/tree'", "'/dev/kmsg'", "'/sys/ecap'"})
    CHECK(contains(finding.cause, std::string("(can't be told: ") + path));
}

TEST_CASE("cmdline.conflict: turned off, the platform opted in → fail with the log's line") {
  auto facts = overruled("iommu=off");
  facts.log->platform_opt_in =
      probe::LogLine{0.5, "DMAR: Intel-IOMMU force enabled due to platform opt in"};
  const auto finding = run_one(cmdline_conflict, facts);
  CHECK(contains(finding.cause, "an IOMMU is in use: the firmware requires the IOMMU"));
  CHECK(has_evidence(finding, "force enabled"));
}

TEST_CASE("cmdline.conflict: no IOMMU in the firmware → ok, and said to be idle") {
  const auto finding = run_one(cmdline_conflict, host_without_iommu("iommu=pt"));
  CHECK(finding.status == Status::ok);
  CHECK(has_evidence(finding, "the firmware has it off"));
}

TEST_CASE("cmdline.conflict: an IOMMU that the kernel leaves off → ok, and said to be idle") {
  auto facts = host_without_iommu("iommu=pt");
  facts.iommu.firmware_tables = {"DMAR"};
  facts.kernel.config->intel_default_on = false;
  const auto finding = run_one(cmdline_conflict, facts);
  CHECK(finding.status == Status::ok);
  CHECK(has_evidence(finding, "without 'intel_iommu=on' this kernel leaves the IOMMU off"));
}

TEST_CASE("cmdline.conflict: a device can't be told → unknown") {
  CHECK(status_of(host("iommu=pt", {gpu("identity"), untold_gpu("0000:5e:00.0")})) ==
        Status::unknown);
  const auto in_vain = run_one(cmdline_conflict, host("iommu=PT", {untold_gpu()}));
  CHECK(in_vain.status == Status::unknown);
  CHECK(contains(in_vain.cause, "'iommu=PT'"));
}

TEST_CASE("cmdline.conflict: one device can't be told, another is translated → fail") {
  CHECK(status_of(host("iommu=pt", {untold_gpu(), gpu("DMA", "0000:5e:00.0")})) == Status::fail);
}

TEST_CASE("cmdline.conflict: command line unread → unknown") {
  auto facts = host("", {gpu("identity")});
  facts.command_line = fail(Errc::denied, "'/proc/cmdline': permission denied");
  CHECK(status_of(facts) == Status::unknown);
}

TEST_CASE("cmdline.conflict: no device matches → not applicable") {
  CHECK(status_of(host("iommu=pt", {})) == Status::not_applicable);
}

}  // namespace peerpath::check
