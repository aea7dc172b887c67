// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/selftest_finding.hpp"
#include "report/sample_selftest.hpp"
#include "support/catch.hpp"

using namespace peerpath;
using check::Status;
using cli::selftest_finding;
using gpu::RunOutcome;
using gpu::Verdict;

namespace {

report::Selftest without_pairs(RunOutcome outcome, const std::string& detail, unsigned code = 0) {
  report::Selftest selftest;
  selftest.run.outcome = outcome;
  selftest.run.detail = detail;
  selftest.run.code = code;
  return selftest;
}

Status status_with(std::initializer_list<Verdict> verdicts) {
  auto selftest = passed_selftest(3);
  std::size_t i = 0;
  for (const auto verdict : verdicts)
    selftest.run.pairs[i++].verdict = verdict;
  const auto finding = selftest_finding(selftest);
  const bool is_good = finding.status == Status::ok;
  CHECK(finding.cause.empty() == is_good);
  CHECK(finding.remedy.empty() == is_good);
  CHECK_FALSE(finding.evidence.empty());
  return finding.status;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

check::Facts facts_of(const std::vector<std::string>& bdfs) {
  check::Facts facts;
  std::vector<probe::PciDevice> devices;
  for (const auto& bdf : bdfs) {
    devices.emplace_back();
    devices.back().bdf = bdf;
  }
  facts.devices = devices;
  return facts;
}

/// As sm-store passed on every pair.
report::Selftest passed_in_full(std::size_t gpus) {
  auto selftest = passed_selftest(gpus);
  for (auto& pair : selftest.run.pairs) {
    pair.results.push_back(pair.results.front());
    pair.results.back().result.test = gpu::Test::sm_store;
  }
  return selftest;
}

check::Finding translated(std::optional<std::string> bdf) {
  return {.id = "iommu.group-type",
          .status = Status::fail,
          .device = std::move(bdf),
          .evidence = {{"iommu_group/type", "DMA-FQ", "identity"}},
          .cause = "nobody asked",
          .remedy = "ask"};
}

Status weighed(check::Finding finding, const report::Selftest& selftest,
               const std::vector<std::string>& bdfs = {"0000:1b:00.0", "0000:1c:00.0"}) {
  std::vector<check::Finding> findings{std::move(finding)};
  cli::weigh_by_selftest(findings, facts_of(bdfs), selftest);
  return findings.front().status;
}

}  // namespace

TEST_CASE("weigh_by_selftest: translated, and every pair passed → a warning with the same remedy") {
  std::vector<check::Finding> findings{translated("0000:1b:00.0"), translated(std::nullopt)};
  cli::weigh_by_selftest(findings, facts_of({"0000:1b:00.0", "0000:1c:00.0"}), passed_in_full(2));
  for (const auto& finding : findings) {
    CHECK(finding.status == Status::warn);
    CHECK(says(finding.cause, "nobody asked; a warning only"));
    CHECK(finding.remedy == "ask");
    REQUIRE(finding.evidence.size() == 2);
    CHECK(finding.evidence[1].observed == "all 2 ordered pairs passed");
  }
}

TEST_CASE("weigh_by_selftest: what the self-test didn't prove → stays a failure") {
  const auto good = passed_in_full(2);
  REQUIRE(weighed(translated("0000:1b:00.0"), good) == Status::warn);
  SECTION("a device that CUDA doesn't show") {
    CHECK(weighed(translated("0000:9d:00.0"), good) == Status::fail);
    CHECK(weighed(translated(std::nullopt), good, {"0000:1b:00.0", "0000:9d:00.0"}) ==
          Status::fail);
  }
  SECTION("a pair with one of its ends untested") {
    auto pair = translated("0000:1b:00.0");
    pair.peer = "0000:9d:00.0";
    CHECK(weighed(pair, good) == Status::fail);
  }
  SECTION("a pair that did not pass") {
    for (const auto verdict : {Verdict::corruption, Verdict::hang, Verdict::inconclusive,
                               Verdict::degraded, Verdict::unsupported}) {
      auto bad = good;
      bad.run.pairs[1].verdict = verdict;
      CHECK(weighed(translated("0000:1b:00.0"), bad) == Status::fail);
    }
  }
  SECTION("a pair that's missing") {
    auto bad = good;
    bad.run.pairs.pop_back();
    CHECK(weighed(translated("0000:1b:00.0"), bad) == Status::fail);
  }
  SECTION("no loads and stores") {
    CHECK(weighed(translated("0000:1b:00.0"), passed_selftest(2)) == Status::fail);
  }
  SECTION("a process is left behind") {
    auto bad = good;
    bad.run.left_behind = {4711};
    CHECK(weighed(translated("0000:1b:00.0"), bad) == Status::fail);
  }
  SECTION("faults in the kernel log while a pair was tested") {
    auto bad = good;
    bad.faults[0] = {"[1.000000] nvidia 0000:1b:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT]"};
    CHECK(weighed(translated("0000:1b:00.0"), bad) == Status::fail);
  }
  SECTION("no device at all") {
    CHECK(weighed(translated(std::nullopt), good, {}) == Status::fail);
  }
  SECTION("a loopback") {
    auto loopback = passed_in_full(2);
    for (auto& pair : loopback.run.pairs)
      pair.destination = pair.source;
    CHECK(weighed(translated("0000:1b:00.0"), loopback) == Status::fail);
  }
}

TEST_CASE("weigh_by_selftest: what isn't a failure → as it was") {
  for (const auto status : {Status::ok, Status::warn, Status::unknown, Status::not_applicable}) {
    auto finding = translated("0000:1b:00.0");
    finding.status = status;
    CHECK(weighed(finding, passed_in_full(2)) == status);
  }
}

TEST_CASE("selftest_finding: no driver → not applicable, with the loader's words as evidence") {
  const auto finding =
      selftest_finding(without_pairs(RunOutcome::no_driver, "libcuda.so.1: cannot open"));
  CHECK(finding.id == "p2p.selftest");
  CHECK(finding.status == Status::not_applicable);
  CHECK(finding.cause == "there is no NVIDIA driver");
  CHECK(finding.remedy.empty());
  REQUIRE(finding.evidence.size() == 1);
  CHECK(finding.evidence[0].source == "libcuda.so.1");
  CHECK(finding.evidence[0].observed == "cannot open");
}

TEST_CASE("selftest_finding: fewer than two GPUs → not applicable, and why") {
  auto selftest = without_pairs(RunOutcome::too_few_gpus, "cuDeviceGetCount: 0");
  auto finding = selftest_finding(selftest);
  CHECK(finding.status == Status::not_applicable);
  CHECK(finding.cause == "CUDA shows no GPU");
  selftest.run.gpus.resize(1);
  finding = selftest_finding(selftest);
  CHECK(finding.status == Status::not_applicable);
  CHECK(says(finding.cause, "with MIG on"));
}

TEST_CASE("selftest_finding: the driver can't be asked → unknown, with a remedy by the error") {
  for (const auto& [code, part] :
       std::vector<std::pair<unsigned, std::string>>{{802, "nvidia-fabricmanager"},
                                                     {803, "reboot"},
                                                     {34, "stub"},
                                                     {0, "nvidia-smi"},
                                                     {999, "nvidia-smi"}}) {
    INFO(code);
    const auto finding =
        selftest_finding(without_pairs(RunOutcome::not_listed, "cuInit: failed", code));
    CHECK(finding.status == Status::unknown);
    CHECK_FALSE(finding.cause.empty());
    CHECK(says(finding.remedy, part));
    CHECK(finding.evidence[0].observed == "cuInit: failed");
  }
}

TEST_CASE("selftest_finding: every pair passed → ok, with what wasn't tested beside it") {
  const auto finding = selftest_finding(passed_selftest(3));
  CHECK(finding.status == Status::ok);
  CHECK(finding.cause.empty());
  CHECK(finding.remedy.empty());
  REQUIRE(finding.evidence.size() == 3);
  CHECK(finding.evidence[0].source == "6 ordered pairs");
  CHECK(finding.evidence[0].observed == "6 passed");
  CHECK(finding.evidence[1].observed == "CUDA 12.4");
  CHECK(finding.evidence[2].source == "not tested");
}

TEST_CASE("selftest_finding: one pair that didn't pass → by its verdict, never ok") {
  for (const auto verdict :
       {Verdict::corruption, Verdict::host_died, Verdict::hang, Verdict::error}) {
    CHECK(status_with({verdict}) == Status::fail);
  }
  for (const auto verdict : {Verdict::asymmetric, Verdict::unsupported, Verdict::degraded})
    CHECK(status_with({verdict}) == Status::warn);
  CHECK(status_with({Verdict::inconclusive}) == Status::unknown);
  CHECK(status_with({}) == Status::ok);
}

TEST_CASE("selftest_finding: several verdicts → fail before unknown before warn") {
  CHECK(status_with({Verdict::degraded, Verdict::inconclusive, Verdict::hang}) == Status::fail);
  CHECK(status_with({Verdict::degraded, Verdict::inconclusive}) == Status::unknown);
}

TEST_CASE("selftest_finding: pairs that didn't pass → the deciding one first, with its remedy") {
  auto selftest = passed_selftest(3);
  spoil(selftest.run.pairs[0], Verdict::degraded, gpu::Outcome::degraded, gpu::Signature::none,
        "9 of 63 GB/s");
  spoil(selftest.run.pairs[1], Verdict::inconclusive, gpu::Outcome::inconclusive,
        gpu::Signature::none, "no time left");
  const auto finding = selftest_finding(selftest);
  CHECK(finding.status == Status::unknown);
  CHECK(finding.evidence[0].source == "0000:1b:00.0 to 0000:1d:00.0");
  CHECK(finding.evidence[0].observed == "inconclusive in ce-write: no time left");
  CHECK(finding.evidence[1].observed == "degraded in ce-write: 9 of 63 GB/s");
  CHECK(finding.cause == "of 6 ordered pairs of GPUs: 4 passed, 1 inconclusive, 1 degraded");
  CHECK(finding.remedy == report::remedy_of(Verdict::inconclusive, gpu::Signature::none));
}

TEST_CASE("selftest_finding: many bad pairs → evidence of eight, and how many there are") {
  auto selftest = passed_selftest(5);
  for (auto& pair : selftest.run.pairs)
    pair.verdict = Verdict::hang;
  const auto finding = selftest_finding(selftest);
  CHECK(finding.evidence[7].observed == "hang");
  CHECK(finding.evidence[8].observed == "20 hang");
}

TEST_CASE("selftest_finding: tested, but no pair → unknown") {
  auto selftest = passed_selftest(2);
  selftest.run.pairs.clear();
  const auto finding = selftest_finding(selftest);
  CHECK(finding.status == Status::unknown);
  CHECK_FALSE(finding.remedy.empty());
}

TEST_CASE("selftest_finding: a process is left behind → at least unknown, and a reboot") {
  auto selftest = passed_selftest(2);
  selftest.run.left_behind = {4711};
  auto finding = selftest_finding(selftest);
  CHECK(finding.status == Status::unknown);
  CHECK(says(finding.cause, "even when killed"));
  CHECK(says(finding.remedy, "reboot"));
  selftest.run.pairs[0].verdict = Verdict::hang;
  finding = selftest_finding(selftest);
  CHECK(finding.status == Status::fail);
  CHECK(says(finding.cause, "1 hang; a process"));
}

TEST_CASE("selftest_is_off: the settings turn it off → not applicable, with the setting") {
  const auto finding = cli::selftest_is_off();
  CHECK(finding.id == "p2p.selftest");
  CHECK(finding.status == Status::not_applicable);
  CHECK(finding.evidence[0].observed == "selftest=off");
}
