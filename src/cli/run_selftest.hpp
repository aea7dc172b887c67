// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/exit_status.hpp"
#include "check/facts.hpp"
#include "gpu/selftest/selftest.hpp"
#include "probe/kernel_log.hpp"
#include "report/selftest_report.hpp"
#include "sys/system.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace peerpath::cli {

/// What the user or the settings want of the self-test.
struct SelftestChoice {
  gpu::Depth depth = gpu::Depth::normal;
  bool loopback = false;
  bool concurrent = true;
  bool force = false;  ///< also pairs that the host went down by
  std::vector<std::string> only = {};
  std::uint64_t max_bytes = 0;
  std::chrono::seconds budget{600};
  std::function<void(const gpu::Progress&)> progress = {};
};

/// What a command with this result ends with: 3 for pairs that failed, else 4 where one is
/// inconclusive; a warning is good.
[[nodiscard]] ExitStatus exit_status_of(const gpu::SelftestReport& run);

/// GPUs that the driver's management library says aren't to be tested: MIG is on, or programs
/// compute on them. What isn't known is no reason.
[[nodiscard]] std::vector<gpu::SkippedGpu> skipped_gpus(const check::Facts& facts);

/// Adds NVIDIA's GPUs on the bus that CUDA doesn't list to what wasn't tested: one that fell off,
/// or that another driver has.
void say_hidden(const check::Facts& facts, gpu::SelftestReport& run);

/// Adds why the driver offers no peer access to the reasons of pairs that have none.
void explain_unsupported(const check::Facts& facts, gpu::SelftestReport& run);

/// Ties lines of the kernel log to the pairs that were tested when they came and whose GPUs, or
/// bridges above them, they name.
void tie_faults(const check::Facts& facts, const std::vector<probe::LogFault>& faults,
                report::Selftest& selftest);

/// Runs the self-test on this machine, with a note on the disk of what is being tested. The facts
/// are those of before the run.
[[nodiscard]] report::Selftest run_selftest(const System& system, const check::Facts& facts,
                                            const SelftestChoice& choice);

}  // namespace peerpath::cli
