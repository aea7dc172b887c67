// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/sample.hpp"

namespace peerpath::check {

using namespace test;

namespace {

Status status_of(const Facts& facts) {
  return run_one(cmdline_conflict, facts).status;
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
  CHECK(status_of(host("quiet", {gpu("DMA-FQ")})) == Status::not_applicable);
  CHECK(status_of(host("iommu=nopt", {gpu("DMA-FQ")})) == Status::not_applicable);
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
  const auto finding = run_one(cmdline_conflict, host("iommu=pt iommu=nopt", {gpu("DMA-FQ")}));
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
  const auto finding =
      run_one(cmdline_conflict, host("iommu=pt", {gpu("identity"), gpu("DMA", "0000:5e:00.0")}));
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
  CHECK(contains(finding.cause, "firmware or tboot"));
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
