// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "report/selftest_report.hpp"

#include <fmt/format.h>

/// A run over so many GPUs in which every pair passed.
inline peerpath::report::Selftest passed_selftest(std::size_t gpus) {
  using namespace peerpath::gpu;
  peerpath::report::Selftest selftest;
  auto& run = selftest.run;
  run.outcome = RunOutcome::tested;
  run.depth = Depth::quick;
  run.driver_version = 12040;
  run.has_kernels = true;
  run.took = std::chrono::milliseconds(3456);
  for (std::size_t i = 0; i < gpus; ++i) {
    run.gpus.push_back({.ordinal = static_cast<int>(i),
                        .uuid = fmt::format("GPU-{:08x}-0000-4000-8000-2d3c5d6e7f80", i),
                        .bdf = fmt::format("0000:{:02x}:00.0", 0x1b + i),
                        .name = "NVIDIA H100 PCIe",
                        .memory = 85899345920,
                        .compute_capability = 90});
  }
  for (std::size_t from = 0; from < gpus; ++from) {
    for (std::size_t to = 0; to < gpus; ++to) {
      if (from == to) continue;
      PairReport pair;
      pair.source = from;
      pair.destination = to;
      pair.nearness = Nearness::one_switch;
      pair.verdict = Verdict::passed;
      pair.bytes_per_second = 52.4e9;
      pair.staged_bytes_per_second = 21e9;
      pair.nanoseconds = 1234;
      pair.ceiling = 63e9;
      pair.began_us = 1'000'000;
      pair.ended_us = 2'000'000;
      StagedResult staged;
      staged.result.test = Test::ce_write;
      staged.result.bytes = 4096;
      staged.result.outcome = Outcome::passed;
      pair.results.push_back(staged);
      run.pairs.push_back(pair);
    }
  }
  run.not_tested = {"buffers of more than 2 MiB"};
  return selftest;
}

inline peerpath::gpu::PairReport& pair_of(peerpath::report::Selftest& selftest, std::size_t from,
                                          std::size_t to) {
  for (auto& pair : selftest.run.pairs) {
    if (pair.source == from && pair.destination == to) return pair;
  }
  throw std::out_of_range("no such pair");
}

/// Gives the pair a verdict by a test that came to it, after one that passed.
inline void spoil(peerpath::gpu::PairReport& pair, peerpath::gpu::Verdict verdict,
                  peerpath::gpu::Outcome outcome, peerpath::gpu::Signature signature,
                  const std::string& reason) {
  using namespace peerpath::gpu;
  pair.verdict = verdict;
  pair.signature = signature;
  pair.failed_test = Test::ce_write;
  pair.reason = reason;
  pair.bytes_per_second.reset();
  pair.nanoseconds.reset();
  StagedResult staged;
  staged.result.test = Test::ce_write;
  staged.result.bytes = 65536;
  staged.result.reused = true;
  staged.result.outcome = outcome;
  staged.result.signature = signature;
  if (outcome == Outcome::corrupt) {
    staged.result.bad_words = 8192;
    staged.result.first_bad = 8;
    staged.result.last_bad = 65528;
    staged.result.bad_pages = 16;
  }
  pair.results.push_back(staged);
}

/// Two GPUs of which one loses what it writes to the other.
inline peerpath::report::Selftest corrupt_selftest() {
  using namespace peerpath::gpu;
  auto selftest = passed_selftest(2);
  spoil(pair_of(selftest, 0, 1), Verdict::corruption, Outcome::corrupt, Signature::zeros,
        "zeros instead of data at the owner");
  selftest.faults[0] = {"[1234.500000] DMAR: [DMA Write NO_PASID] Request device [1b:00.0] fault"};
  selftest.notes = {"what is tested isn't noted: permission denied"};
  return selftest;
}

/// Sixteen GPUs with pairs of every verdict.
inline peerpath::report::Selftest mixed_selftest() {
  using namespace peerpath::gpu;
  auto selftest = passed_selftest(16);
  const auto set = [&](std::size_t from, std::size_t to, Verdict verdict, Outcome outcome,
                       Signature signature, const std::string& reason) {
    spoil(pair_of(selftest, from, to), verdict, outcome, signature, reason);
  };
  set(0, 1, Verdict::corruption, Outcome::corrupt, Signature::mirror, "the owner has other data");
  set(0, 2, Verdict::corruption, Outcome::corrupt, Signature::mirror, "the owner has other data");
  set(3, 4, Verdict::host_died, Outcome::not_run, Signature::none, "the host went down");
  set(5, 6, Verdict::hang, Outcome::hang, Signature::none, "no end within 20 s");
  set(7, 8, Verdict::error, Outcome::error, Signature::none, "CUDA_ERROR_UNKNOWN (999)");
  set(9, 10, Verdict::asymmetric, Outcome::unsupported, Signature::none, "not back");
  set(11, 12, Verdict::unsupported, Outcome::unsupported, Signature::none, "no peer access");
  set(13, 14, Verdict::degraded, Outcome::degraded, Signature::none, "9 of 63 GB/s");
  set(15, 0, Verdict::inconclusive, Outcome::inconclusive, Signature::none, "GPU was busy");
  pair_of(selftest, 13, 14).bytes_per_second = 9.04e9;
  pair_of(selftest, 13, 14).nanoseconds = 640;
  selftest.run.left_behind = {4711};
  return selftest;
}
