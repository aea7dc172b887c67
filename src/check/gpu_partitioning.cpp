// SPDX-License-Identifier: GPL-2.0-or-later
// Modes of the GPUs that turn peer access off by design.
#include "check/checks.hpp"
#include "check/gpu_driver.hpp"

#include <fmt/format.h>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "gpu.partitioning",
    .title = "MIG and confidential computing",
    .message_id = "c6a39df3d1a945719c2a2befca7af63a",
    .meaning =
        "Asks the NVIDIA driver whether a GPU is in MIG mode, split into instances, and whether "
        "confidential computing is on. Both turn peer access between GPUs off by design. It "
        "doesn't apply without an NVIDIA driver, with fewer than two GPUs, and in a recorded "
        "tree, where no driver can be asked.",
    .causes =
        "MIG was turned on with 'nvidia-smi -mig 1' or by a MIG manager, and stays on over a "
        "reboot. Confidential computing is set in the GPU's firmware by NVIDIA's admin tools. "
        "Unknown: the driver doesn't answer, or fails.",
    .remedy =
        "'nvidia-smi -i ADDRESS -mig 0' and a reset or reboot turn MIG off, and take the instances "
        "away. Or accept it: programs then copy by way of the host's memory.",
    .since = "0.1.0",
};

Finding start(Status status) {
  return {.id = std::string(record.id), .status = status};
}

Evidence mig_evidence(const GpuStatus::Gpu& gpu) {
  const auto* mode = !gpu.mig ? "MIG isn't supported" : *gpu.mig ? "MIG is on" : "MIG is off";
  return {"nvmlDeviceGetMigMode", fmt::format("{}: {}", gpu.bdf, mode), "off, or not supported"};
}

Evidence confidential_evidence(const std::optional<bool>& state) {
  return {"nvmlSystemGetConfComputeState",
          !state   ? "confidential computing isn't supported"
          : *state ? "confidential computing is on"
                   : "confidential computing is off",
          "off, or not supported"};
}

Finding with_mig(const std::vector<GpuStatus::Gpu>& gpus) {
  auto finding = start(Status::warn);
  for (const auto& gpu : gpus)
    finding.evidence.push_back(mig_evidence(gpu));
  finding.cause = "MIG is on, and its instances have no peer access, by design";
  finding.remedy =
      fmt::format("turn it off with 'nvidia-smi -i {} -mig 0', or accept it", gpus.front().bdf);
  return finding;
}

Finding with_confidential_computing(const GpuStatus& status) {
  auto finding = start(Status::warn);
  finding.evidence.push_back(confidential_evidence(status.confidential_computing));
  finding.cause =
      "confidential computing is on, and keeps GPUs from each other's memory, by design";
  finding.remedy = "turn it off with NVIDIA's GPU admin tools and reboot, or accept it";
  return finding;
}

std::vector<Finding> run(const Facts& facts) {
  const auto asked = asked_gpus(std::string(record.id), facts);
  if (!asked) return {asked.error()};
  std::vector<GpuStatus::Gpu> split;
  for (const auto& gpu : asked->gpus) {
    if (gpu.mig.value_or(false)) split.push_back(gpu);
  }
  std::vector<Finding> findings;
  if (!split.empty()) findings.push_back(with_mig(split));
  if (asked->confidential_computing) findings.push_back(with_confidential_computing(*facts.gpus));
  if (!findings.empty()) return findings;

  auto finding = start(Status::ok);
  for (const auto& gpu : asked->gpus)
    finding.evidence.push_back(mig_evidence(gpu));
  finding.evidence.push_back(confidential_evidence(facts.gpus->confidential_computing));
  return {finding};
}

}  // namespace

const Check gpu_partitioning{record, run};

}  // namespace peerpath::check
