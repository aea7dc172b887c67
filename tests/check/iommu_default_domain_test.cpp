// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/sample.hpp"

namespace peerpath::check {

using namespace test;

namespace {

constexpr std::string_view passthrough =
    "iommu: Default domain type: Passthrough (set via kernel command line)";
constexpr std::string_view translated = "iommu: Default domain type: Translated ";

Facts host_saying(std::string_view line, std::vector<probe::PciDevice> devices) {
  auto facts = host("", std::move(devices));
  facts.log = whole_log();
  if (!line.empty()) facts.log->default_domain = probe::LogLine{0.5, std::string(line)};
  return facts;
}

}  // namespace

TEST_CASE("iommu.default-domain: the line and the groups agree → ok, with both") {
  const auto pt = run_one(iommu_default_domain, host_saying(passthrough, {gpu("identity")}));
  CHECK(pt.status == Status::ok);
  CHECK(has_evidence(pt, "[0.500000] iommu: Default domain type: Passthrough"));
  CHECK(has_evidence(pt, "identity"));
  const auto type = GENERATE("DMA", "DMA-FQ");
  CHECK(run_one(iommu_default_domain, host_saying(translated, {gpu(type)})).status == Status::ok);
}

TEST_CASE("iommu.default-domain: a device beside it without a group → ok") {
  const auto facts = host_saying(passthrough, {gpu("identity"), gpu(std::nullopt, "0000:5e:00.0")});
  CHECK(run_one(iommu_default_domain, facts).status == Status::ok);
}

TEST_CASE("iommu.default-domain: Translated, but the platform opted in → warn naming that line") {
  auto facts = host_saying(translated, {gpu("identity")});
  facts.log->platform_opt_in =
      probe::LogLine{0.7, "DMAR: Intel-IOMMU force enabled due to platform opt in"};
  const auto finding = run_one(iommu_default_domain, facts);
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.cause, "0000:3b:00.0 is identity"));
  CHECK(contains(finding.cause, "platform asked for its IOMMU"));
  CHECK(has_evidence(finding, "platform opt in"));
  CHECK(contains(finding.remedy, "iommu.group-type"));
}

TEST_CASE("iommu.default-domain: Translated, but AMD passes the device through → warn") {
  auto facts = host_saying(translated, {gpu("identity")});
  facts.iommu.units = std::vector<std::string>{"ivhd0"};
  const auto finding = run_one(iommu_default_domain, facts);
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.cause, "PASID"));
}

TEST_CASE(
    "iommu.default-domain: Passthrough, but a device is translated → warn with the line that "
    "says why") {
  auto facts = host_saying(passthrough, {gpu("identity"), gpu("DMA", "0000:5e:00.0")});
  CHECK(contains(run_one(iommu_default_domain, facts).cause, "untrusted"));
  facts.log->domain_lines = {
      {0.9,
       "iommu: Failed to allocate default IOMMU domain of type 4 for group (null) - Falling "
       "back to IOMMU_DOMAIN_DMA"}};
  const auto finding = run_one(iommu_default_domain, facts);
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.cause, "0000:5e:00.0 is DMA"));
  CHECK_FALSE(contains(finding.cause, "0000:3b:00.0"));
  CHECK(contains(finding.cause, "Falling back"));
}

TEST_CASE("iommu.default-domain: neither Passthrough nor Translated → unknown") {
  const auto facts = host_saying("iommu: Default domain type: \x1b[31m", {gpu("identity")});
  const auto finding = run_one(iommu_default_domain, facts);
  CHECK(finding.status == Status::unknown);
  CHECK(has_evidence(finding, "\\x1b"));
}

TEST_CASE("iommu.default-domain: a type that can't be told → unknown; another differs → warn") {
  auto facts = host_saying(passthrough, {untold_gpu()});
  CHECK(run_one(iommu_default_domain, facts).status == Status::unknown);
  facts.devices->push_back(gpu("DMA", "0000:5e:00.0"));
  CHECK(run_one(iommu_default_domain, facts).status == Status::warn);
}

TEST_CASE("iommu.default-domain: no such line in a whole log → not applicable") {
  const auto finding = run_one(iommu_default_domain, host_saying("", {gpu("identity")}));
  CHECK(finding.status == Status::not_applicable);
}

TEST_CASE("iommu.default-domain: log denied → unknown, to be run as root") {
  auto facts = host("iommu=pt", {gpu("identity")});
  facts.log = fail(Errc::denied, "'/dev/kmsg': operation not permitted");
  const auto finding = run_one(iommu_default_domain, facts);
  CHECK(finding.status == Status::unknown);
  CHECK(contains(finding.cause, "operation not permitted"));
  CHECK(contains(finding.remedy, "as root"));
}

TEST_CASE("iommu.default-domain: a log that has lost its beginning, without the line → unknown") {
  auto facts = host_saying("", {gpu("identity")});
  facts.log->from_start = false;
  facts.log->first_time = 3600;
  const auto finding = run_one(iommu_default_domain, facts);
  CHECK(finding.status == Status::unknown);
  CHECK(contains(finding.cause, "3600.000000 s"));
  CHECK(contains(finding.remedy, "log_buf_len"));
}

TEST_CASE("iommu.default-domain: no device in a group → not applicable, whatever the line") {
  auto facts = host_without_iommu("iommu=pt");
  facts.log = whole_log();
  facts.log->default_domain = probe::LogLine{0.5, std::string(passthrough)};
  const auto finding = run_one(iommu_default_domain, facts);
  CHECK(finding.status == Status::not_applicable);
  CHECK(contains(finding.cause, "means nothing here"));
  CHECK(has_evidence(finding, "Passthrough"));
  facts.log = fail(Errc::denied, "denied");
  CHECK(run_one(iommu_default_domain, facts).status == Status::not_applicable);
}

TEST_CASE("iommu.default-domain: no device matches → not applicable; unlisted → unknown") {
  CHECK(run_one(iommu_default_domain, host("", {})).status == Status::not_applicable);
  auto facts = host("", {});
  facts.devices = fail(Errc::not_found, "'/sys/bus/pci': missing");
  CHECK(run_one(iommu_default_domain, facts).status == Status::unknown);
}

}  // namespace peerpath::check
