// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/selftest/judge.hpp"
#include "support/catch.hpp"

#include <vector>

using namespace peerpath::gpu;

namespace {

TestResult result(Test test, Outcome outcome = Outcome::passed,
                  Signature signature = Signature::none) {
  TestResult one;
  one.test = test;
  one.outcome = outcome;
  one.signature = signature;
  return one;
}

PairFacts good_facts() {
  PairFacts facts;
  facts.access = facts.reverse_access = true;
  facts.path = {{0}, Nearness::one_switch, 31.5e9, false};
  return facts;
}

PairReport judged(const std::vector<TestResult>& results, const PairFacts& facts = good_facts()) {
  PairReport pair;
  for (const auto& one : results)
    pair.results.push_back({Stage::alone, one});
  judge(pair, facts, {});
  return pair;
}

std::vector<TestResult> good() {
  return {result(Test::staged_copy), result(Test::ce_write), result(Test::ce_read)};
}

PairReport with(const TestResult& more, const PairFacts& facts = good_facts()) {
  auto results = good();
  results.push_back(more);
  return judged(results, facts);
}

TestResult measured(double bytes_per_second) {
  auto one = result(Test::bandwidth);
  one.bytes_per_second = bytes_per_second;
  return one;
}

}  // namespace

TEST_CASE("judge: all passed → passed, without a reason") {
  const auto pair = judged(good());
  CHECK(pair.verdict == Verdict::passed);
  CHECK(pair.reason.empty());
  CHECK_FALSE(pair.failed_test);
}

TEST_CASE("judge: nothing ran, or only the control → never passed") {
  CHECK(judged({}).verdict == Verdict::inconclusive);
  CHECK(judged({result(Test::staged_copy)}).verdict == Verdict::inconclusive);
}

TEST_CASE("judge: each outcome → its verdict, and the worst counts") {
  CHECK(with(result(Test::sm_store, Outcome::hang)).verdict == Verdict::hang);
  CHECK(with(result(Test::sm_store, Outcome::error)).verdict == Verdict::error);
  CHECK(with(result(Test::sm_store, Outcome::inconclusive)).verdict == Verdict::inconclusive);
  CHECK(with(result(Test::sm_store, Outcome::not_run)).verdict == Verdict::inconclusive);
  CHECK(with(result(Test::atomics, Outcome::unsupported)).verdict == Verdict::passed);
  auto results = good();
  results.push_back(result(Test::sm_store, Outcome::corrupt, Signature::mirror));
  results.push_back(result(Test::sm_load, Outcome::corrupt, Signature::zeros));
  results.push_back(result(Test::ping_pong, Outcome::hang));
  const auto pair = judged(results);
  CHECK(pair.verdict == Verdict::corruption);
  CHECK(pair.signature == Signature::mirror);
  CHECK(pair.failed_test == Test::sm_store);
}

TEST_CASE("judge: the control fails → inconclusive, but not over corruption shown before") {
  CHECK(judged({result(Test::staged_copy, Outcome::corrupt, Signature::zeros),
                result(Test::ce_write, Outcome::corrupt, Signature::zeros)})
            .verdict == Verdict::inconclusive);
  CHECK(judged({result(Test::staged_copy), result(Test::ce_write, Outcome::corrupt),
                result(Test::staged_copy, Outcome::corrupt)})
            .verdict == Verdict::corruption);
  const auto pair = with(result(Test::staged_with_access, Outcome::corrupt));
  CHECK(pair.verdict == Verdict::corruption);
  CHECK(pair.reason.find("enabling peer access breaks") == 0);
}

TEST_CASE("judge: no memory for the control in one size → corruption in another still counts") {
  auto results = good();
  results.insert(results.begin() + 1, result(Test::staged_copy, Outcome::inconclusive));
  CHECK(judged(results).verdict == Verdict::inconclusive);
  results.push_back(result(Test::sm_store, Outcome::corrupt, Signature::zeros));
  CHECK(judged(results).verdict == Verdict::corruption);
}

TEST_CASE("judge: peer access → unsupported, asymmetric") {
  auto facts = good_facts();
  facts.access = false;
  CHECK(judged({result(Test::staged_copy)}, facts).verdict == Verdict::asymmetric);
  facts.reverse_access = false;
  CHECK(judged({result(Test::staged_copy)}, facts).verdict == Verdict::unsupported);
}

TEST_CASE("judge: a setup that fails later → corruption still outranks it") {
  auto facts = good_facts();
  facts.events.push_back({Verdict::error, Test::sm_load, "the worker ended"});
  CHECK(judged(good(), facts).verdict == Verdict::error);
  CHECK(with(result(Test::sm_store, Outcome::corrupt), facts).verdict == Verdict::corruption);
  facts.events.front().verdict = Verdict::host_died;
  CHECK(with(result(Test::sm_store, Outcome::hang), facts).verdict == Verdict::host_died);
}

TEST_CASE("judge: bandwidths → named by the ceiling, the control and the limits") {
  auto facts = good_facts();
  CHECK(with(measured(27e9)).verdict == Verdict::passed);
  CHECK(with(measured(12.1e9)).reason == "12.1 GB/s of 31.5 GB/s: slow");
  CHECK(with(measured(6e9)).reason == "6.0 GB/s of 31.5 GB/s: redirected through the root?");
  CHECK(with(measured(40e9)).verdict == Verdict::degraded);
  facts.path.nearness = Nearness::across_sockets;
  CHECK(with(measured(15e9), facts).verdict == Verdict::passed);
  CHECK(with(measured(14e9), facts).verdict == Verdict::degraded);
  facts = good_facts();
  facts.path.is_degraded = true;
  CHECK(with(measured(27e9), facts).reason.find("trained below") != std::string::npos);
  facts = good_facts();
  facts.path.nearness = Nearness::nvlink;
  CHECK(with(measured(1e9), facts).verdict == Verdict::passed);
  CHECK_FALSE(judge_bandwidth(20e9, 21e9, good_facts().path, {}).empty());
}

TEST_CASE("selftest report: the worst pair counts, and none is inconclusive") {
  SelftestReport report;
  CHECK(report.verdict() == Verdict::inconclusive);
  report.pairs.resize(2);
  report.pairs[0].verdict = Verdict::passed;
  report.pairs[1].verdict = Verdict::degraded;
  CHECK(report.verdict() == Verdict::degraded);
}
