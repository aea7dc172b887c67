// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/selftest_finding.hpp"
#include "support/catch.hpp"

using namespace peerpath;
using check::Status;
using cli::selftest_finding;
using gpu::DriverOutcome;
using gpu::DriverReport;

namespace {

DriverReport counted(int devices) {
  return {.outcome = DriverOutcome::counted,
          .devices = devices,
          .version = 12040,
          .detail = "cuDeviceGetCount: N"};
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("selftest_finding: no driver → not applicable, with the loader's words as evidence") {
  const auto finding = selftest_finding(
      {.outcome = DriverOutcome::no_driver, .detail = "libcuda.so.1: cannot open"});
  CHECK(finding.id == "p2p.selftest");
  CHECK(finding.status == Status::not_applicable);
  CHECK(finding.cause == "there is no NVIDIA driver");
  CHECK(finding.remedy.empty());
  REQUIRE(finding.evidence.size() == 1);
  CHECK(finding.evidence[0].source == "libcuda.so.1");
  CHECK(finding.evidence[0].observed == "cannot open");
}

TEST_CASE("selftest_finding: the loader names another library → it stays named") {
  const auto finding = selftest_finding(
      {.outcome = DriverOutcome::unusable, .detail = "libother.so.1: cannot open"});
  CHECK(finding.evidence.at(0).observed == "libother.so.1: cannot open");
}

TEST_CASE("selftest_finding: fewer than two GPUs → not applicable") {
  CHECK(selftest_finding(counted(0)).status == Status::not_applicable);
  CHECK(selftest_finding(counted(0)).cause == "CUDA shows no GPU");
  CHECK(selftest_finding(counted(1)).status == Status::not_applicable);
  CHECK(says(selftest_finding(counted(1)).cause, "MIG"));
}

TEST_CASE("selftest_finding: two GPUs or more → unknown, for there is no pair test") {
  for (const int devices : {2, 16}) {
    const auto finding = selftest_finding(counted(devices));
    CHECK(finding.status == Status::unknown);
    CHECK(says(finding.cause, "this version has no pair test"));
    CHECK(says(finding.cause, "the " + std::to_string(devices) + " GPUs"));
    CHECK_FALSE(finding.remedy.empty());
  }
}

TEST_CASE("selftest_finding: the driver's version is known → in the evidence") {
  const auto finding = selftest_finding(counted(2));
  REQUIRE(finding.evidence.size() == 2);
  CHECK(finding.evidence[1].source == "cuDriverGetVersion");
  CHECK(finding.evidence[1].observed == "CUDA 12.4");
}

TEST_CASE("selftest_finding: could not be told → unknown, with cause and remedy") {
  for (const auto outcome :
       {DriverOutcome::unusable, DriverOutcome::call_failed, DriverOutcome::timed_out,
        DriverOutcome::crashed, DriverOutcome::not_asked}) {
    const auto finding = selftest_finding({.outcome = outcome, .detail = "why"});
    INFO(finding.cause);
    CHECK(finding.status == Status::unknown);
    CHECK_FALSE(finding.cause.empty());
    CHECK_FALSE(finding.remedy.empty());
    CHECK(finding.evidence.at(0).observed == "why");
  }
}

TEST_CASE("selftest_finding: an error that has its own remedy → that one") {
  const auto remedy = [](unsigned code) {
    return selftest_finding({.outcome = DriverOutcome::call_failed, .code = code, .detail = "x"})
        .remedy;
  };
  CHECK(says(remedy(802), "nvidia-fabricmanager.service"));
  CHECK(says(remedy(803), "reboot"));
  CHECK(says(remedy(34), "stub"));
  CHECK(says(remedy(999), "nvidia-smi"));
}

TEST_CASE("selftest_finding: a process hangs inside the driver → unknown, whatever it answered") {
  auto driver = counted(1);
  driver.left_behind = true;
  const auto finding = selftest_finding(driver);
  CHECK(finding.status == Status::unknown);
  CHECK(says(finding.cause, "doesn't end, even when killed"));
  CHECK(says(finding.remedy, "reboot"));
}
