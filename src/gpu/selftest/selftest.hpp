// SPDX-License-Identifier: GPL-2.0-or-later
// The self-test of every ordered pair of GPUs. The parent's side: it never loads CUDA, and outlives
// workers that hang, crash or can't be killed.
#pragma once

#include "base/result.hpp"
#include "gpu/selftest/links.hpp"
#include "gpu/selftest/result.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace peerpath::gpu {

enum class Depth { quick, normal, deep };

/// What a pair comes to, the worst first: the first that holds is the pair's.
enum class Verdict : std::uint8_t {
  corruption,
  host_died,  ///< the host went down during a test of the pair, at an earlier run
  hang,
  error,
  asymmetric,    ///< one direction has peer access, the other one hasn't
  unsupported,   ///< the driver offers no peer access
  degraded,      ///< data right, bandwidth not
  inconclusive,  ///< the control failed, the GPU was busy, there was no time left
  passed,
};
[[nodiscard]] std::string_view name_of(Verdict verdict);
[[nodiscard]] std::optional<Verdict> verdict_named(std::string_view name);

/// How bandwidth is judged, as shares of the path's ceiling. From few hosts: settings may differ.
struct BandwidthLimits {
  double redirected = 0.25;   ///< below: goes through the root, or is staged
  double slow = 0.60;         ///< below: warn
  double slow_far = 0.45;     ///< the same for pairs across sockets
  double implausible = 1.02;  ///< above: writes that were dropped
};

/// A test that may take the host down: written down before it begins.
struct Inflight {
  Gpu source;
  Gpu destination;
  Test test = Test::staged_copy;
};

/// A pair that isn't tested, and why.
struct SkippedPair {
  std::string first_uuid;
  std::string second_uuid;  ///< the order doesn't count
  Verdict verdict = Verdict::host_died;
  std::string reason;
};

/// A GPU that isn't tested, and why: "2 processes compute on it".
struct SkippedGpu {
  std::string bdf;
  std::string reason;
};

struct Progress {
  std::size_t done = 0;  ///< steps
  std::size_t all = 0;
  std::chrono::seconds left{0};  ///< an estimate, never above what's left of the budget
  std::string now;               ///< "0000:3b:00.0 -> 0000:86:00.0 ce-write"
};

struct SelftestOptions {
  std::string worker;  ///< path of peerpath-p2p-worker
  Depth depth = Depth::normal;
  bool loopback = false;
  std::vector<std::string> only;  ///< BDFs or UUIDs of the GPUs to be tested; empty: all
  std::uint64_t max_bytes = 0;    ///< leaves out sizes above; 0: no limit
  std::chrono::milliseconds budget{240'000};
  std::chrono::milliseconds test_limit{20'000};       ///< silence of a worker that counts as a hang
  std::chrono::milliseconds grace{2'000};             ///< how long a killed worker may take to end
  std::chrono::milliseconds not_ready_limit{60'000};  ///< for cuInit's 802: the fabric manager
  bool concurrent = true;                             ///< stage 2
  BandwidthLimits limits;
  LinkGraph links;
  std::vector<SkippedPair> skipped_pairs;
  std::vector<SkippedGpu> skipped_gpus;
};

/// What the parent's own surroundings do. All may be empty.
struct SelftestHooks {
  /// Before a test begins, with all that run then. An error: the test isn't run, inconclusive.
  std::function<Result<>(const std::vector<Inflight>&)> note_inflight;
  std::function<void(const Progress&)> progress;
  /// As LibraryQuery::has_ended: tests put a worker here that can't be killed.
  std::function<std::optional<int>(pid_t)> has_ended;
};

/// Which part of the run a result is of.
enum class Stage : std::uint8_t { alone, measured, concurrent, fan_out };
[[nodiscard]] std::string_view name_of(Stage stage);
[[nodiscard]] std::optional<Stage> stage_named(std::string_view name);

struct StagedResult {
  Stage stage = Stage::alone;
  TestResult result;
};

/// An ordered pair.
struct PairReport {
  std::size_t source = 0;  ///< indices into SelftestReport::gpus
  std::size_t destination = 0;
  Nearness nearness = Nearness::across_sockets;
  Verdict verdict = Verdict::inconclusive;
  Signature signature = Signature::none;          ///< of the worst result
  std::optional<Test> failed_test;                ///< the first that was as bad as the verdict
  std::string reason;                             ///< one line; empty where it passed
  std::optional<double> bytes_per_second;         ///< as measured alone on its links
  std::optional<double> staged_bytes_per_second;  ///< of the control
  std::optional<double> nanoseconds;              ///< of one load
  double ceiling = 0;                             ///< bytes per second, zero where unknown
  std::int64_t began_us =
      0;  ///< CLOCK_MONOTONIC of the first and the last test: for the kernel log
  std::int64_t ended_us = 0;
  std::vector<StagedResult> results;
};

enum class RunOutcome : std::uint8_t {
  tested,     ///< `pairs` say how it went
  no_driver,  ///< there's no CUDA driver
  too_few_gpus,
  not_listed,  ///< the driver could not be asked: `detail`
};

struct SelftestReport {
  RunOutcome outcome = RunOutcome::not_listed;
  std::string detail;  ///< why there are no pairs; one line
  unsigned code = 0;   ///< CUresult, where a call failed
  bool loopback = false;
  Depth depth = Depth::normal;
  int driver_version = 0;              ///< 1000 × major + 10 × minor
  bool has_kernels = false;            ///< load and store tests ran
  std::vector<std::string> not_found;  ///< of SelftestOptions::only: then nothing is tested
  std::vector<std::string> listed;     ///< BDFs of all GPUs that CUDA shows, tested or not
  std::vector<Gpu> gpus;
  std::vector<PairReport> pairs;
  std::vector<std::string> not_tested;  ///< what this run says nothing about, a line each
  std::vector<pid_t> left_behind;       ///< workers that didn't end on SIGKILL
  std::chrono::milliseconds took{0};

  /// The worst of the pairs; inconclusive where there are none.
  [[nodiscard]] Verdict verdict() const;
};

/// Runs the self-test. Takes at most the budget and a few times `grace`, whatever the GPUs do.
[[nodiscard]] SelftestReport run_selftest(const SelftestOptions& options,
                                          const SelftestHooks& hooks = {});

}  // namespace peerpath::gpu
