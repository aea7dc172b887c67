// SPDX-License-Identifier: GPL-2.0-or-later
// What the results of a pair come to. Pure.
#pragma once

#include "gpu/selftest/selftest.hpp"

#include <optional>
#include <string>

namespace peerpath::gpu {

/// What isn't in a test's own result: how the worker ended, or why there's none.
struct PairEvent {
  Verdict verdict = Verdict::inconclusive;
  std::optional<Test> test;  ///< during which it came
  std::string reason;        ///< one line
};

/// What is known of an ordered pair beside its results.
struct PairFacts {
  bool access = false;          ///< the driver offers peer access
  bool reverse_access = false;  ///< and in the other direction
  Path path;
  std::vector<PairEvent> events;
};

/// Fills in what `results` and the facts come to: verdict, signature, failed_test, reason and the
/// figures. Bandwidth alone is never worse than degraded; no test passed is never passed.
void judge(PairReport& pair, const PairFacts& facts, const BandwidthLimits& limits);

/// What is wrong with a bandwidth, in one line; empty where nothing is. Pairs with NVLink and
/// paths of unknown links have no floor, but that of the staged copy.
[[nodiscard]] std::string judge_bandwidth(double bytes_per_second, double staged, const Path& path,
                                          const BandwidthLimits& limits);

}  // namespace peerpath::gpu
