// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/sample.hpp"

namespace peerpath::check {

using namespace test;

namespace {

using Source = probe::DmaFault::Source;

probe::DmaFault fault(Source source, const std::optional<std::string>& bdf,
                      std::uint64_t count = 1) {
  return {source, bdf, {10, "first of " + bdf.value_or("none")}, {20, "last of it"}, count};
}

Facts host_with(std::vector<probe::DmaFault> faults) {
  auto facts = host("iommu=pt", {gpu("identity"), gpu("identity", "0000:5e:00.0")});
  facts.log = whole_log();
  facts.log->faults = std::move(faults);
  return facts;
}

void add_bridge(Facts& facts, const std::string& bdf) {
  probe::PciTree tree;
  probe::PciNode node;
  node.bdf = bdf;
  tree.nodes.emplace(bdf, node);
  facts.tree = tree;
}

}  // namespace

TEST_CASE("kernel.dma-faults: none in a whole log → ok") {
  const auto finding = run_one(kernel_dma_faults, host_with({}));
  CHECK(finding.status == Status::ok);
  CHECK(has_evidence(finding, "reaches back to the start"));
}

TEST_CASE("kernel.dma-faults: a device's faults → warn with count, first and last") {
  auto facts = host_with({fault(Source::intel, "0000:3b:00.0", 1000)});
  facts.log->suppressed = 2474;
  facts.log->from_start = GENERATE(true, false);
  const auto finding = run_one(kernel_dma_faults, facts);
  CHECK(finding.status == Status::warn);
  CHECK(finding.device == "0000:3b:00.0");
  CHECK(finding.cause == "faults in this boot's kernel log: 1000 DMAR");
  CHECK(has_evidence(finding, "[10.000000] first of 0000:3b:00.0"));
  CHECK(has_evidence(finding, "[20.000000] last of it"));
  CHECK(has_evidence(finding, "2474 lines suppressed"));
  CHECK(contains(finding.remedy, "iommu.group-type"));
}

TEST_CASE("kernel.dma-faults: two devices, one with an Xid besides → warn for each") {
  const auto findings = run(kernel_dma_faults, host_with({fault(Source::amd, "0000:5e:00.0"),
                                                          fault(Source::intel, "0000:3b:00.0"),
                                                          fault(Source::xid, "0000:5e:00.0", 2)}));
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].device == "0000:3b:00.0");
  CHECK(findings[1].cause == "faults in this boot's kernel log: 1 AMD-Vi, 2 Xid");
}

TEST_CASE("kernel.dma-faults: an Xid alone → warn pointing to NVIDIA's documentation") {
  const auto finding = run_one(kernel_dma_faults, host_with({fault(Source::xid, "0000:3b:00.0")}));
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.remedy, "NVIDIA"));
}

TEST_CASE("kernel.dma-faults: a bridge above a device → warn, where the tree is known") {
  auto facts = host_with({fault(Source::intel, "0000:3a:00.0")});
  facts.tree = fail(Errc::denied, "denied");
  CHECK(run_one(kernel_dma_faults, facts).status == Status::ok);
  add_bridge(facts, "0000:3a:00.0");
  const auto finding = run_one(kernel_dma_faults, facts);
  CHECK(finding.status == Status::warn);
  CHECK(finding.device == "0000:3a:00.0");
}

TEST_CASE("kernel.dma-faults: faults that name no device → warn with their lines") {
  const auto finding = run_one(
      kernel_dma_faults, host_with({fault(Source::smmu, std::nullopt), fault(Source::nvidia, {})}));
  CHECK(finding.status == Status::warn);
  CHECK_FALSE(finding.device.has_value());
  CHECK(finding.cause ==
        "faults in this boot's kernel log whose device isn't named: 1 SMMU, 1 NVRM");
  CHECK(has_evidence(finding, "first of none"));
}

TEST_CASE("kernel.dma-faults: a line without the PCI domain → warn for that address in another") {
  auto facts = host("iommu=pt", {gpu("identity", "0001:06:00.0")});
  facts.log->faults = {fault(Source::intel, "0000:06:00.0")};
  const auto finding = run_one(kernel_dma_faults, facts);
  CHECK(finding.status == Status::warn);
  CHECK(finding.device == "0001:06:00.0");
  facts.log->faults = {fault(Source::intel, "0002:06:00.0")};
  CHECK(run_one(kernel_dma_faults, facts).status == Status::ok);
}

TEST_CASE("kernel.dma-faults: other devices' faults → ok, but said") {
  std::vector<probe::DmaFault> faults;
  for (int i = 0; i < 10; ++i)
    faults.push_back(fault(Source::intel, "0000:00:14." + std::to_string(i), 12));
  const auto finding = run_one(kernel_dma_faults, host_with(faults));
  CHECK(finding.status == Status::ok);
  CHECK(has_evidence(finding, "0000:00:14.0 (12), "));
  CHECK(has_evidence(finding, ", 2 more"));
}

TEST_CASE("kernel.dma-faults: no fault of ours, but lines suppressed → unknown") {
  auto facts = host_with({fault(Source::intel, "0000:00:14.0")});
  facts.log->suppressed = 5;
  CHECK(run_one(kernel_dma_faults, facts).status == Status::unknown);
}

TEST_CASE("kernel.dma-faults: none in a log that has lost its beginning → unknown") {
  auto facts = host_with({});
  facts.log->from_start = false;
  CHECK(run_one(kernel_dma_faults, facts).status == Status::unknown);
}

TEST_CASE("kernel.dma-faults: log unreadable → unknown") {
  auto facts = host_with({});
  facts.log = fail(Errc::denied, "'/dev/kmsg': operation not permitted");
  const auto finding = run_one(kernel_dma_faults, facts);
  CHECK(finding.status == Status::unknown);
  CHECK(finding.remedy == "run 'peerpath verify' as root");
}

TEST_CASE("kernel.dma-faults: no device matches → not applicable; unlisted → unknown") {
  auto facts = host_with({fault(Source::intel, "0000:3b:00.0")});
  facts.devices->clear();
  CHECK(run_one(kernel_dma_faults, facts).status == Status::not_applicable);
  facts.devices = fail(Errc::not_found, "'/sys/bus/pci': missing");
  CHECK(run_one(kernel_dma_faults, facts).status == Status::unknown);
}

}  // namespace peerpath::check
