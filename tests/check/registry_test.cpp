// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/sample.hpp"
#include "check/selftest_records.hpp"

#include <algorithm>
#include <set>

namespace peerpath::check {

using namespace test;

TEST_CASE("all_checks: the report's order → the truth first") {
  std::vector<std::string_view> ids;
  for (const auto* check : all_checks())
    ids.push_back(check->record.id);
  CHECK(ids == std::vector<std::string_view>{
                   "iommu.group-type", "iommu.group-members", "cmdline.effective",
                   "cmdline.conflict", "cmdline.fwupd", "iommu.default-domain",
                   "iommu.memory-encryption", "boot.pending-reboot", "pcie.acs-redirect",
                   "pcie.acs-override", "pcie.link", "pcie.bar-size", "platform.virtual-machine",
                   "platform.direct-link", "gpu.peer-access", "gpu.driver-options",
                   "gpu.partitioning", "kernel.dma-faults"});
}

TEST_CASE("all_records: every check, the self-test and the summary → once each, all filled in") {
  std::set<std::string_view> ids;
  std::set<std::string_view> message_ids;
  for (const auto* record : all_records()) {
    INFO(record->id);
    CHECK(ids.insert(record->id).second);
    CHECK(message_ids.insert(record->message_id).second);
    CHECK(record->message_id.size() == 32);
    CHECK(record->message_id.find_first_not_of("0123456789abcdef") == std::string_view::npos);
    for (const auto text :
         {record->title, record->meaning, record->causes, record->remedy, record->since}) {
      CHECK_FALSE(text.empty());
    }
  }
  for (const auto* check : all_checks())
    CHECK(ids.count(check->record.id) == 1);
  CHECK(ids.count("p2p.selftest") == 1);
  CHECK(ids.count("peerpath.boot-check") == 1);
  CHECK(ids.size() == all_checks().size() + selftest_records().size() + 1);
}

TEST_CASE("all_records: message ids → never changed") {
  const auto message_id = [](std::string_view id) {
    const auto records = all_records();
    const auto found = std::find_if(records.begin(), records.end(),
                                    [&](const Record* record) { return record->id == id; });
    REQUIRE(found != records.end());
    return (*found)->message_id;
  };
  CHECK(message_id("iommu.group-type") == "6fbb684582e34402a23ec4958f5c8115");
  CHECK(message_id("iommu.group-members") == "8b48d8365bd0416c9bdc987ef97fd6c4");
  CHECK(message_id("cmdline.effective") == "46884cd59d6f40388606651dc4b02182");
  CHECK(message_id("cmdline.conflict") == "2b2397086ba549d9ada36603dcd00812");
  CHECK(message_id("cmdline.fwupd") == "2046b5840f6a4568a05d8df99da8d936");
  CHECK(message_id("iommu.default-domain") == "8f14ce09919e4800b3f81e86f18e833b");
  CHECK(message_id("iommu.memory-encryption") == "a75d433aea854b2a95c5a60388126c7a");
  CHECK(message_id("boot.pending-reboot") == "2a8c770ee0b54af2a2cc0a65d34c9cab");
  CHECK(message_id("pcie.acs-redirect") == "526150775e6d474395ca44ed79b60742");
  CHECK(message_id("pcie.acs-override") == "d5f6f196a76c40488044469782d3fada");
  CHECK(message_id("pcie.link") == "ef89685cd1dd4ae1b163b956c61a4f39");
  CHECK(message_id("pcie.bar-size") == "0892e17cc7544d9ab4d7be95ef5bf915");
  CHECK(message_id("platform.virtual-machine") == "e4494ba599704bae87a02d60362d9887");
  CHECK(message_id("platform.direct-link") == "005695b24d2249e1ab1a34a7c5d01e73");
  CHECK(message_id("gpu.peer-access") == "50f2512ebb914b408dd1a325ca2e2ede");
  CHECK(message_id("gpu.driver-options") == "1d9073493ab34e40a3be4dbd0f8b5912");
  CHECK(message_id("gpu.partitioning") == "c6a39df3d1a945719c2a2befca7af63a");
  CHECK(message_id("kernel.dma-faults") == "3b28553e74ac4df6a5f1a6cfb7df0195");
  CHECK(message_id("p2p.selftest") == "4a051c9c57db49279ded89573ddfbca8");
  CHECK(message_id("p2p.corruption") == "acfb89db0e434b3ab3b649c3d2fe5869");
  CHECK(message_id("p2p.host-died") == "0ee72d1d93d1473d82abe1675fd27c94");
  CHECK(message_id("p2p.hang") == "536844a0e6274b3596afe03a6fcf8362");
  CHECK(message_id("p2p.error") == "2775664cb23246a1b51668c2e450736f");
  CHECK(message_id("p2p.asymmetric") == "6907e2f5927e4b14beef128e70c17f64");
  CHECK(message_id("p2p.unsupported") == "360cc9d5adc44c338d9f1b0bc769a7d1");
  CHECK(message_id("p2p.degraded") == "081ef7e3e1974bee9e77a46ea54e06f4");
  CHECK(message_id("p2p.inconclusive") == "51102be9830f4db888033fd26841f607");
  CHECK(message_id("peerpath.boot-check") == "2a7ef4d061074656be07032cb06f9c16");
}

TEST_CASE("verdict: findings of several statuses → the worst of them") {
  const auto of = [](const std::vector<Status>& statuses) {
    std::vector<Finding> findings;
    for (const auto status : statuses)
      findings.push_back({.id = "some.check", .status = status});
    return verdict(findings);
  };
  CHECK(of({}) == Status::not_applicable);
  CHECK(of({Status::not_applicable, Status::ok}) == Status::ok);
  CHECK(of({Status::ok, Status::warn}) == Status::warn);
  CHECK(of({Status::warn, Status::unknown, Status::ok}) == Status::unknown);
  CHECK(of({Status::unknown, Status::fail, Status::warn}) == Status::fail);
}

TEST_CASE("all checks: every mixture of facts → well-formed findings, never ok where translated") {
  const std::vector<std::string> words{"",         "iommu=pt",    "iommu=nopt",     "iommu=off",
                                       "iommu=PT", "-- iommu=pt", "intel_iommu=off"};
  const std::vector<probe::PciDevice> devices{gpu(std::nullopt), gpu("identity"), gpu("DMA"),
                                              gpu("blocked"),    gpu("unknown"),  untold_gpu()};
  const std::vector<std::string> machines{"x86_64", "aarch64", "ppc64le"};
  const std::vector<std::string> units{"", "dmar0", "ivhd0"};
  for (const auto& word : words) {
    for (const auto& device : devices) {
      for (const auto& machine : machines) {
        for (const auto& unit : units) {
          INFO("'" << word << "' " << machine << " " << unit);
          auto facts = host(word, {device});
          facts.kernel.machine = machine;
          facts.iommu.units = unit.empty() ? std::vector<std::string>{} : std::vector{unit};
          std::vector<Finding> findings;
          for (const auto* check : all_checks()) {
            for (auto& finding : run(*check, facts))
              findings.push_back(std::move(finding));
          }
          const auto& type = device.group_type;
          const bool translated = type && (*type == "DMA" || *type == "blocked");
          const bool untold = !type || *type == "unknown";
          CHECK((findings.front().status == Status::fail) == translated);
          CHECK((findings.front().status == Status::unknown) == untold);
          if (translated) CHECK(verdict(findings) == Status::fail);
        }
      }
    }
  }
}

}  // namespace peerpath::check
