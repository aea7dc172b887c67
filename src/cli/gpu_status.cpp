// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/gpu_status.hpp"

#include "gpu/nvml_abi.hpp"

namespace peerpath::cli {
namespace {

using gpu::DriverOutcome;

Errc code_of(const gpu::NvmlReport& report, const probe::NvidiaModule& module) {
  switch (report.outcome) {
    case DriverOutcome::no_driver:
      return Errc::not_found;
    case DriverOutcome::unusable:
      return Errc::malformed;
    case DriverOutcome::call_failed: {
      const bool no_module = module.version && !*module.version;
      if (report.code == gpu::nvml::driver_not_loaded && no_module) return Errc::not_found;
      if (report.code == gpu::nvml::no_permission) return Errc::denied;
      return Errc::command_failed;
    }
    case DriverOutcome::timed_out:
      return Errc::busy;
    case DriverOutcome::answered:
    case DriverOutcome::crashed:
    case DriverOutcome::not_asked:
      break;
  }
  return Errc::internal;
}

}  // namespace

Result<check::GpuStatus> gpu_status(const gpu::NvmlReport& report,
                                    const probe::NvidiaModule& module) {
  if (report.outcome != DriverOutcome::answered) {
    auto text = report.detail;
    if (report.left_behind) text += "; the process that asked it doesn't end, even when killed";
    return fail(code_of(report, module), std::move(text));
  }
  check::GpuStatus status;
  for (const auto& gpu : report.gpus)
    status.gpus.push_back({gpu.bdf, gpu.mig, gpu.memory, gpu.processes});
  for (const auto& [pair, peer] : report.peers)
    status.peers[pair] = {peer.read, peer.write, peer.nvlink, peer.atomics};
  status.confidential_computing = report.confidential_computing;
  return status;
}

}  // namespace peerpath::cli
