// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/gpu_status.hpp"

#include "support/catch.hpp"

using namespace peerpath;
using cli::gpu_status;
using gpu::DriverOutcome;

namespace {

const probe::NvidiaModule loaded{std::optional<std::string>("550.90.07"), {}};
const probe::NvidiaModule absent{std::optional<std::string>(), {}};

gpu::NvmlReport failed(DriverOutcome outcome, unsigned code = 0) {
  return {.outcome = outcome, .code = code, .detail = "the reason"};
}

}  // namespace

TEST_CASE("gpu_status: an answer → all of it") {
  gpu::NvmlReport report{.outcome = DriverOutcome::answered};
  report.gpus = {{"0000:3b:00.0", 80U, true}, {"0000:86:00.0", std::nullopt, std::nullopt}};
  report.peers[{"0000:3b:00.0", "0000:86:00.0"}] = {"OK", "CNS", "NS", "U"};
  report.confidential_computing = true;
  const auto status = gpu_status(report, loaded);
  REQUIRE(status.has_value());
  REQUIRE(status->gpus.size() == 2);
  CHECK(status->gpus[0].bdf == "0000:3b:00.0");
  CHECK(status->gpus[0].memory_size == 80U);
  CHECK(status->gpus[0].mig == true);
  CHECK(status->gpus[1].memory_size == std::nullopt);
  const auto& peer = status->peers.at({"0000:3b:00.0", "0000:86:00.0"});
  CHECK(peer.read == "OK");
  CHECK(peer.write == "CNS");
  CHECK(peer.nvlink == "NS");
  CHECK(peer.atomics == "U");
  CHECK(status->confidential_computing == true);
}

TEST_CASE("gpu_status: no answer → an error of the kind that findings go by") {
  const auto code = [](const gpu::NvmlReport& report, const probe::NvidiaModule& module = loaded) {
    const auto status = gpu_status(report, module);
    REQUIRE_FALSE(status.has_value());
    CHECK(status.error().text() == "the reason");
    return status.error().code;
  };
  CHECK(code(failed(DriverOutcome::no_driver)) == Errc::not_found);
  CHECK(code(failed(DriverOutcome::unusable)) == Errc::malformed);
  CHECK(code(failed(DriverOutcome::call_failed, 18)) == Errc::command_failed);
  CHECK(code(failed(DriverOutcome::call_failed, 4)) == Errc::denied);
  CHECK(code(failed(DriverOutcome::call_failed, 9), absent) == Errc::not_found);
  CHECK(code(failed(DriverOutcome::call_failed, 9), loaded) == Errc::command_failed);
  CHECK(code(failed(DriverOutcome::timed_out)) == Errc::busy);
  CHECK(code(failed(DriverOutcome::crashed)) == Errc::internal);
  CHECK(code(failed(DriverOutcome::not_asked)) == Errc::internal);
}

TEST_CASE("gpu_status: a process left behind → said") {
  auto report = failed(DriverOutcome::timed_out);
  report.left_behind = true;
  CHECK(gpu_status(report, loaded).error().text().find("even when killed") != std::string::npos);
}
