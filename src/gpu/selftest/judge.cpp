// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/selftest/judge.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::gpu {
namespace {

bool is_control(const TestResult& result) {
  return result.test == Test::staged_copy;
}

std::string text_of(const TestResult& result) {
  std::string text = fmt::format("{}: {}", name_of(result.test), name_of(result.outcome));
  if (result.signature != Signature::none) {
    text += fmt::format(" ({})", name_of(result.signature));
  }
  if (result.bad_words != 0) {
    text += fmt::format(", {} words wrong of {} bytes, the first at offset {}", result.bad_words,
                        result.bytes, result.first_bad);
  }
  if (!result.detail.empty()) text += ": " + result.detail;
  return text;
}

/// The worst so far: what comes first stays, unless what follows is worse.
class Worst {
 public:
  explicit Worst(PairReport& pair) : pair_(pair) {
    pair_.verdict = Verdict::passed;
    pair_.signature = Signature::none;
    pair_.failed_test.reset();
    pair_.reason.clear();
  }
  void add(Verdict verdict, std::optional<Test> test, std::string reason,
           Signature signature = Signature::none) {
    if (verdict >= pair_.verdict) return;
    pair_.verdict = verdict;
    pair_.failed_test = test;
    pair_.reason = std::move(reason);
    pair_.signature = signature;
  }

 private:
  PairReport& pair_;
};

Verdict verdict_of(const TestResult& result) {
  switch (result.outcome) {
    case Outcome::corrupt:
      return Verdict::corruption;
    case Outcome::hang:
      return Verdict::hang;
    case Outcome::error:
      return Verdict::error;
    case Outcome::degraded:
      return Verdict::degraded;
    case Outcome::inconclusive:
    case Outcome::not_run:
      return Verdict::inconclusive;
    case Outcome::unsupported:  // of one test: what wasn't tested is said apart
    case Outcome::passed:
      break;
  }
  return Verdict::passed;
}

void add_results(const std::vector<StagedResult>& results, Worst& worst) {
  bool control_passed = false;
  bool control_failed = false;
  for (const auto& [stage, result] : results) {
    const auto verdict = verdict_of(result);
    if (is_control(result)) {
      control_passed = control_passed || result.outcome == Outcome::passed;
      if (verdict == Verdict::passed) continue;
      // One that had no memory or no time in this size says nothing against those that passed.
      control_failed = control_failed || verdict < Verdict::inconclusive;
      worst.add(Verdict::inconclusive, result.test,
                fmt::format("the control through the host failed, which says nothing of the path "
                            "between peers: {}",
                            text_of(result)));
      continue;
    }
    if (verdict == Verdict::passed) continue;
    // A GPU that can't copy through the host isn't to be blamed on the path.
    if (control_failed || !control_passed) {
      worst.add(Verdict::inconclusive, result.test, "without a good control: " + text_of(result));
      continue;
    }
    auto reason = text_of(result);
    if (result.test == Test::staged_with_access && result.outcome == Outcome::corrupt) {
      reason.insert(0, "enabling peer access breaks copies through the host: ");
    }
    worst.add(verdict, result.test, std::move(reason), result.signature);
  }
}

/// The best of several, and only of those that found the data right.
std::optional<double> figure(const std::vector<StagedResult>& results, Test test,
                             double TestResult::*value, bool least) {
  std::optional<double> best;
  for (const auto& [stage, result] : results) {
    const double one = result.*value;
    const bool counts = result.outcome == Outcome::passed || result.outcome == Outcome::degraded;
    if (result.test != test || !counts || one <= 0) continue;
    best = !best ? one : least ? std::min(*best, one) : std::max(*best, one);
  }
  return best;
}

bool has_passed(const std::vector<StagedResult>& results, Test test) {
  return std::any_of(results.begin(), results.end(), [test](const auto& one) {
    return one.result.test == test && one.result.outcome == Outcome::passed;
  });
}

}  // namespace

std::string judge_bandwidth(double bytes_per_second, double staged, const Path& path,
                            const BandwidthLimits& limits) {
  if (bytes_per_second <= 0 || path.nearness == Nearness::self) return {};
  const auto rate = [](double value) { return fmt::format("{:.1f} GB/s", value / 1e9); };
  const bool has_ceiling = path.ceiling > 0 && path.nearness != Nearness::nvlink;
  const auto of = has_ceiling ? fmt::format("{} of {}", rate(bytes_per_second), rate(path.ceiling))
                              : rate(bytes_per_second);
  if (has_ceiling && bytes_per_second > limits.implausible * path.ceiling) {
    return of + ": faster than the links are; writes may have been dropped";
  }
  if (has_ceiling && bytes_per_second < limits.redirected * path.ceiling) {
    return of + ": redirected through the root?";
  }
  if (staged > 0 && bytes_per_second < staged) {
    return fmt::format("{}: slower than {} through the host: redirected through the root?", of,
                       rate(staged));
  }
  const double slow = path.nearness == Nearness::across_sockets ? limits.slow_far : limits.slow;
  if (has_ceiling && bytes_per_second < slow * path.ceiling) return of + ": slow";
  if (path.is_degraded) return of + ": a link is trained below what both its ends can do";
  return {};
}

void judge(PairReport& pair, const PairFacts& facts, const BandwidthLimits& limits) {
  pair.nearness = facts.path.nearness;
  pair.ceiling = facts.path.ceiling;
  pair.bytes_per_second =
      figure(pair.results, Test::bandwidth, &TestResult::bytes_per_second, false);
  pair.staged_bytes_per_second =
      figure(pair.results, Test::staged_copy, &TestResult::bytes_per_second, false);
  pair.nanoseconds = figure(pair.results, Test::latency, &TestResult::nanoseconds, true);

  Worst worst(pair);
  // First, for they say why results are missing.
  for (const auto& event : facts.events)
    worst.add(event.verdict, event.test, event.reason);
  add_results(pair.results, worst);
  if (facts.access != facts.reverse_access) {
    worst.add(Verdict::asymmetric, std::nullopt,
              facts.access ? "peer access is offered in this direction only"
                           : "peer access is offered in the other direction only");
  } else if (!facts.access) {
    worst.add(Verdict::unsupported, std::nullopt, "the driver offers no peer access");
  }
  if (pair.bytes_per_second) {
    const auto wrong = judge_bandwidth(
        *pair.bytes_per_second, pair.staged_bytes_per_second.value_or(0), facts.path, limits);
    if (!wrong.empty()) worst.add(Verdict::degraded, Test::bandwidth, wrong);
  }
  for (const auto test : {Test::staged_copy, Test::ce_write, Test::ce_read}) {
    if (!has_passed(pair.results, test)) {
      worst.add(Verdict::inconclusive, test, fmt::format("{} was not tested", name_of(test)));
    }
  }
}

Verdict SelftestReport::verdict() const {
  if (pairs.empty()) return Verdict::inconclusive;
  return std::min_element(pairs.begin(), pairs.end(),
                          [](const auto& a, const auto& b) { return a.verdict < b.verdict; })
      ->verdict;
}

}  // namespace peerpath::gpu
