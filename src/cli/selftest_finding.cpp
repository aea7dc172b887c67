// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/selftest_finding.hpp"

#include "gpu/cuda_abi.hpp"

#include <fmt/format.h>

namespace peerpath::cli {
namespace {

using check::Finding;
using check::Status;
using gpu::DriverOutcome;
using gpu::DriverReport;

struct Judgement {
  Status status = Status::unknown;
  std::string cause;
  std::string remedy = {};
};

Judgement judge_count(int devices) {
  if (devices >= 2) {
    return {Status::unknown,
            fmt::format("this version has no pair test, so nothing is known of how data passes "
                        "between the {} GPUs",
                        devices),
            "judge by the other findings, and copy data between the GPUs with a program that "
            "compares it afterwards"};
  }
  if (devices == 1) {
    return {Status::not_applicable,
            "CUDA shows one GPU, and peers need two; with MIG on, it shows one instance, and "
            "instances have no peers"};
  }
  return {Status::not_applicable, "CUDA shows no GPU"};
}

std::string remedy_for(unsigned code) {
  switch (code) {
    case gpu::cuda::system_not_ready:
      return "see to it that nvidia-fabricmanager.service runs, and check again";
    case gpu::cuda::system_driver_mismatch:
      return "reboot, or load the kernel module of the same version as the driver's library";
    case gpu::cuda::stub_library:
      return "take the CUDA Toolkit's stub out of the loader's path: libcuda.so.1 has to be the "
             "driver's";
    default:
      return "see to it that 'nvidia-smi' lists the GPUs, and read the kernel log for 'NVRM:' "
             "lines";
  }
}

Judgement judge(const DriverReport& driver) {
  switch (driver.outcome) {
    case DriverOutcome::counted:
      return judge_count(driver.devices);
    case DriverOutcome::no_driver:
      return {Status::not_applicable, "there is no NVIDIA driver"};
    case DriverOutcome::unusable:
      return {Status::unknown, "the NVIDIA driver's library can't be used",
              "install the NVIDIA driver anew, for this architecture"};
    case DriverOutcome::call_failed:
      return {Status::unknown, "the NVIDIA driver can't tell how many GPUs there are",
              remedy_for(driver.code)};
    case DriverOutcome::timed_out:
      return {Status::unknown, "the NVIDIA driver doesn't answer", remedy_for(driver.code)};
    case DriverOutcome::crashed:
      return {Status::unknown, "the NVIDIA driver crashed", remedy_for(driver.code)};
    case DriverOutcome::not_asked:
      break;
  }
  return {Status::unknown, "the NVIDIA driver could not be asked",
          "free memory or processes, and check again"};
}

constexpr const char* library = "libcuda.so.1";

/// The loader begins with the library's name, which the evidence has already.
std::string without_name(const std::string& detail) {
  const auto name = fmt::format("{}: ", library);
  return detail.starts_with(name) ? detail.substr(name.size()) : detail;
}

std::string shown_version(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace

Finding selftest_finding(const DriverReport& driver) {
  auto judgement = judge(driver);
  Finding finding{.id = "p2p.selftest", .status = judgement.status};
  finding.cause = std::move(judgement.cause);
  finding.remedy = std::move(judgement.remedy);
  finding.evidence.push_back({library, without_name(driver.detail), "two GPUs or more"});
  if (driver.version > 0) {
    finding.evidence.push_back({"cuDriverGetVersion", "CUDA " + shown_version(driver.version), ""});
  }
  if (driver.left_behind) {
    finding.cause += "; the process that asked it doesn't end, even when killed";
    finding.remedy = "reboot: a process hangs inside the driver";
    finding.status = Status::unknown;
  }
  return finding;
}

}  // namespace peerpath::cli
