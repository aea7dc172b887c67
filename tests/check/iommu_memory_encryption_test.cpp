// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/sample.hpp"

namespace peerpath::check {

using namespace test;

namespace {

Facts encrypting(const std::string& words, bool encrypts) {
  auto facts = host(words, {gpu("DMA-FQ")});
  facts.log = whole_log();
  facts.machine.memory_encryption = encrypts;
  return facts;
}

Facts untold(const std::string& words) {
  auto facts = encrypting(words, false);
  facts.machine.memory_encryption = fail(Errc::denied, "'/proc/cpuinfo': permission denied");
  return facts;
}

Status status_of(const Facts& facts) {
  return run_one(iommu_memory_encryption, facts).status;
}

}  // namespace

TEST_CASE("iommu.memory-encryption: the default was reset → warn to ask explicitly") {
  auto facts = GENERATE(encrypting("", true), encrypting("", false), untold(""));
  facts.log->memory_encryption = probe::LogLine{
      0.4, "iommu: Memory encryption detected - Disabling default IOMMU Passthrough"};
  const auto finding = run_one(iommu_memory_encryption, facts);
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.remedy, "explicitly: run 'peerpath ensure'"));
  CHECK(has_evidence(finding, "Disabling default"));
}

TEST_CASE(
    "iommu.memory-encryption: encrypting with explicit passthrough → warn of bounce buffers") {
  const auto finding = run_one(iommu_memory_encryption, encrypting("iommu=pt", true));
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.cause, "SWIOTLB"));
}

TEST_CASE("iommu.memory-encryption: only the log says that it encrypts → the same") {
  auto facts = GENERATE(encrypting("iommu=pt", false), untold("iommu=pt"));
  facts.log->encryption_active = probe::LogLine{0, "Memory Encryption Features active: AMD SME"};
  const auto finding = run_one(iommu_memory_encryption, facts);
  CHECK(finding.status == Status::warn);
  CHECK(has_evidence(finding, "AMD SME"));
}

TEST_CASE("iommu.memory-encryption: encrypting, nothing reset, no passthrough → ok") {
  CHECK(status_of(encrypting("", true)) == Status::ok);
  auto facts = encrypting("iommu=nopt", true);
  facts.log = fail(Errc::denied, "denied");
  CHECK(status_of(facts) == Status::ok);
}

TEST_CASE("iommu.memory-encryption: encrypting, built for passthrough, log denied → unknown") {
  auto facts = encrypting("", true);
  facts.log = fail(Errc::denied, "denied");
  CHECK(status_of(facts) == Status::ok);
  facts.kernel.config->default_domain = probe::KernelConfig::Default::passthrough;
  const auto finding = run_one(iommu_memory_encryption, facts);
  CHECK(finding.status == Status::unknown);
  CHECK(contains(finding.remedy, "as root"));
}

TEST_CASE("iommu.memory-encryption: encrypting, command line unread → unknown") {
  auto facts = encrypting("", true);
  facts.command_line = fail(Errc::denied, "'/proc/cmdline': permission denied");
  CHECK(status_of(facts) == Status::unknown);
}

TEST_CASE("iommu.memory-encryption: neither machine nor log tells → unknown") {
  auto facts = untold("iommu=pt");
  facts.log->from_start = false;
  CHECK(status_of(facts) == Status::unknown);
  facts.log = fail(Errc::denied, "denied");
  CHECK(status_of(facts) == Status::unknown);
}

TEST_CASE("iommu.memory-encryption: memory isn't encrypted → not applicable") {
  CHECK(status_of(encrypting("iommu=pt", false)) == Status::not_applicable);
  CHECK(status_of(untold("iommu=pt")) == Status::not_applicable);
}

TEST_CASE("iommu.memory-encryption: no IOMMU or no device → not applicable") {
  auto facts = encrypting("iommu=pt", true);
  facts.devices = std::vector{gpu(std::nullopt)};
  CHECK(status_of(facts) == Status::not_applicable);
  facts.devices->clear();
  CHECK(status_of(facts) == Status::not_applicable);
}

}  // namespace peerpath::check
