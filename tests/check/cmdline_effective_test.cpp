// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/sample.hpp"

namespace peerpath::check {

using namespace test;
using Default = probe::KernelConfig::Default;

namespace {

Status status_of(const Facts& facts) {
  return run_one(cmdline_effective, facts).status;
}

}  // namespace

TEST_CASE("cmdline.effective: passthrough asked for → ok, naming the word") {
  const auto finding = run_one(cmdline_effective, host("iommu=pt", {gpu("identity")}));
  CHECK(finding.status == Status::ok);
  CHECK(finding.evidence[0].source == "/proc/cmdline");
  CHECK(finding.evidence[0].observed == "'iommu=pt': passthrough");
}

TEST_CASE("cmdline.effective: IOMMU turned off → ok, the vendor known from the firmware") {
  auto facts = host("intel_iommu=off", {gpu(std::nullopt)});
  facts.iommu.units = std::vector<std::string>{};
  const auto finding = run_one(cmdline_effective, facts);
  CHECK(finding.status == Status::ok);
  CHECK(finding.evidence[0].observed == "'intel_iommu=off': off");
}

TEST_CASE("cmdline.effective: another vendor's `off` → not taken for one") {
  auto facts = host("intel_iommu=off", {gpu("DMA-FQ")});
  facts.iommu.units = std::vector<std::string>{"ivhd0"};
  facts.iommu.firmware_tables = {"IVRS"};
  CHECK(status_of(facts) == Status::fail);
}

TEST_CASE("cmdline.effective: a word asks for translation → fail naming it") {
  for (const auto& device : {gpu("DMA"), untold_gpu()}) {
    const auto finding = run_one(cmdline_effective, host("iommu=pt,nopt", {device}));
    CHECK(finding.status == Status::fail);
    CHECK(finding.cause == "'iommu=pt,nopt' asks for translation");
    CHECK(contains(finding.remedy, "take 'iommu=pt,nopt' off"));
  }
}

TEST_CASE("cmdline.effective: a word asks for translation, nothing is translated → warn") {
  CHECK(status_of(host("iommu=nopt", {gpu("identity")})) == Status::warn);
  CHECK(status_of(host_without_iommu("iommu=nopt")) == Status::warn);
}

TEST_CASE("cmdline.effective: nothing asks and the default is translation → fail") {
  const auto finding = run_one(cmdline_effective, host("quiet", {gpu("DMA-FQ")}));
  CHECK(finding.status == Status::fail);
  CHECK(has_evidence(finding, "no word decides: kernel-default"));
  CHECK(has_evidence(finding, "CONFIG_IOMMU_DEFAULT_PASSTHROUGH isn't set"));
  CHECK(status_of(host("quiet", {untold_gpu()})) == Status::fail);
}

TEST_CASE("cmdline.effective: nothing asks and the default is passthrough → ok") {
  for (const auto& device : {gpu("identity"), untold_gpu()}) {
    auto facts = host("quiet", {device});
    facts.kernel.config->default_domain = Default::passthrough;
    CHECK(status_of(facts) == Status::ok);
  }
}

TEST_CASE("cmdline.effective: the default is passthrough and a device translated → fail") {
  auto facts = host("quiet", {gpu("DMA-FQ")});
  facts.kernel.config->default_domain = Default::passthrough;
  CHECK(status_of(facts) == Status::fail);
}

TEST_CASE("cmdline.effective: nothing asks, no device is translated → warn that it's by chance") {
  const auto finding = run_one(cmdline_effective, host("quiet", {gpu("identity")}));
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.cause, "guarantees"));
  CHECK(finding.remedy == "run 'peerpath ensure', then reboot");
}

TEST_CASE("cmdline.effective: Intel's IOMMU isn't used by default → ok") {
  auto facts = host("quiet", {gpu(std::nullopt)});
  facts.iommu.units = std::vector<std::string>{};
  facts.kernel.config->intel_default_on = false;
  const auto finding = run_one(cmdline_effective, facts);
  CHECK(finding.status == Status::ok);
  CHECK(has_evidence(finding, "CONFIG_INTEL_IOMMU_DEFAULT_ON isn't set"));
  // Where the kernel would use it, something else must be the reason.
  facts.kernel.config->intel_default_on = true;
  CHECK(status_of(facts) == Status::warn);
}

TEST_CASE("cmdline.effective: no IOMMU at all → not applicable") {
  CHECK(status_of(host_without_iommu("quiet")) == Status::not_applicable);
}

TEST_CASE("cmdline.effective: no IOMMU, and units that can't be read → warn, not a guess") {
  auto facts = host_without_iommu("quiet");
  facts.iommu.units = fail(Errc::denied, "'/sys/class/iommu': permission denied");
  CHECK(status_of(facts) == Status::warn);
}

TEST_CASE("cmdline.effective: nothing asks and no build configuration → unknown if untold") {
  auto facts = host("quiet", {untold_gpu()});
  facts.kernel.config = fail(Errc::not_found, "'/boot/config-6.8.0-60-generic': missing");
  const auto finding = run_one(cmdline_effective, facts);
  CHECK(finding.status == Status::unknown);
  CHECK(contains(finding.cause, "'/boot/config-6.8.0-60-generic': missing"));
  facts.devices = std::vector{gpu("DMA-FQ")};
  CHECK(status_of(facts) == Status::fail);
  facts.devices = fail(Errc::denied, "'/sys/bus/pci/devices': permission denied");
  CHECK(status_of(facts) == Status::unknown);
}

TEST_CASE("cmdline.effective: command line, architecture or bootconfig unread → unknown") {
  auto facts = host("iommu=pt", {gpu("identity")});
  SECTION("command line") {
    facts.command_line = fail(Errc::denied, "'/the/file': denied");
  }
  SECTION("architecture") {
    facts.kernel.machine = fail(Errc::denied, "'/the/file': denied");
  }
  SECTION("bootconfig") {
    facts.kernel.bootconfig = fail(Errc::denied, "'/the/file': denied");
  }
  const auto finding = run_one(cmdline_effective, facts);
  CHECK(finding.status == Status::unknown);
  CHECK(contains(finding.cause, "'/the/file': denied"));
}

TEST_CASE("cmdline.effective: arm64 → only `iommu.passthrough=` counts") {
  auto facts = host("iommu=pt", {gpu("DMA")});
  facts.kernel.machine = "aarch64";
  facts.iommu.units = std::vector<std::string>{"smmu3.0x0000000000000000"};
  facts.iommu.firmware_tables = {"IORT"};
  CHECK(status_of(facts) == Status::fail);
  facts.command_line = "iommu.passthrough=1\n";
  CHECK(status_of(facts) == Status::ok);
}

TEST_CASE("cmdline.effective: words in vain → told as evidence") {
  const auto finding = run_one(cmdline_effective, host("quiet -- iommu=pt", {gpu("DMA-FQ")}));
  CHECK(finding.status == Status::fail);
  CHECK(has_evidence(finding, "'iommu=pt' isn't in force: "));
}

TEST_CASE("cmdline.effective: bytes that aren't text in a word → printable in the finding") {
  const auto finding = run_one(cmdline_effective, host("iommu=pt\x1b[2J\xff", {gpu("identity")}));
  CHECK(finding.evidence[0].observed == "'iommu=pt\\x1b[2J\\xff': passthrough");
}

TEST_CASE("cmdline.effective: no device matches → not applicable") {
  CHECK(status_of(host("iommu=nopt", {})) == Status::not_applicable);
}

}  // namespace peerpath::check
