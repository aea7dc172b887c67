// SPDX-License-Identifier: GPL-2.0-or-later
// The whole self-test, with the real worker and the simulated driver: each fault turns exactly its
// verdict, and without faults nothing does, with 8 and with 16 GPUs.
#include "gpu/selftest/selftest.hpp"
#include "support/catch.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace peerpath::gpu;

namespace {

constexpr double link_rate = 25e9;
constexpr const char* two_gpus =
    "driver 12040\n"
    "gpu gpu0 0000:01:00.0 memory=268435456\n"
    "gpu gpu1 0000:02:00.0 memory=268435456\n"
    "link gpu0 gpu1 25e9 300\n";

SelftestOptions quick_options() {
  SelftestOptions options;
  options.worker = PEERPATH_WORKER;
  options.depth = Depth::quick;
  options.max_bytes = 8192;
  // A busy machine mustn't look like a hang.
  options.test_limit = std::chrono::seconds(20);
  return options;
}

/// Runs with this configuration; the workers find driver and configuration by the environment.
SelftestReport run(const std::string& configuration, const SelftestOptions& options) {
  char name[] = "/tmp/peerpath-selftest-XXXXXX";
  ::close(::mkstemp(name));
  std::ofstream(name) << configuration;
  ::setenv("LD_LIBRARY_PATH", PEERPATH_SIM_CUDA_DIR, 1);
  ::setenv("PEERPATH_SIM_CUDA", name, 1);
  auto report = run_selftest(options);
  ::unlink(name);
  return report;
}

std::string topology(const char* name) {
  std::ifstream file(std::string(PEERPATH_TESTS_DIR) + "/sim-cuda/topologies/" + name);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

LinkGraph direct_links() {
  LinkGraph links;
  links.links = {{"there", link_rate}, {"back", link_rate}};
  links.paths[{"0000:01:00.0", "0000:02:00.0"}] = {{0}, Nearness::one_switch, link_rate, false};
  links.paths[{"0000:02:00.0", "0000:01:00.0"}] = {{1}, Nearness::one_switch, link_rate, false};
  return links;
}

struct Row {
  const char* knob;
  Verdict verdict;
  Test test;
  Signature signature;
};

// All are of gpu0 to gpu1.
constexpr Row rows[] = {
    {"mirror op=ce-write", Verdict::corruption, Test::ce_write, Signature::mirror},
    {"mirror op=sm-store", Verdict::corruption, Test::sm_store, Signature::mirror},
    {"zeros op=ce-write", Verdict::corruption, Test::ce_write, Signature::zeros},
    {"zeros op=ce-write min-bytes=4096", Verdict::corruption, Test::ce_write, Signature::zeros},
    {"zeros op=sm-load", Verdict::corruption, Test::sm_load, Signature::zeros},
    {"all-ones op=ce-write", Verdict::corruption, Test::ce_write, Signature::all_ones},
    {"never-written op=sm-store", Verdict::corruption, Test::sm_store, Signature::never_written},
    {"stale op=ce-write", Verdict::corruption, Test::ce_write, Signature::stale},
    {"other-pair op=ce-write", Verdict::corruption, Test::ce_write, Signature::other_pair},
    {"shifted op=ce-write min-bytes=4096", Verdict::corruption, Test::ce_write, Signature::shifted},
    {"few-bits op=ce-write", Verdict::corruption, Test::ce_write, Signature::few_bits},
    {"overrun op=ce-write", Verdict::corruption, Test::ce_write, Signature::overrun},
    {"lost-atomic op=atomics", Verdict::corruption, Test::atomics, Signature::lost_atomic},
    {"lost-flag op=flag", Verdict::corruption, Test::ping_pong, Signature::lost_flag},
    {"hang op=flag", Verdict::hang, Test::ping_pong, Signature::lost_flag},
    {"error op=ce-write code=205", Verdict::error, Test::ce_write, Signature::none},
    {"abort op=ce-write", Verdict::error, Test::ce_write, Signature::none},
    {"hang op=ce-write", Verdict::hang, Test::ce_write, Signature::none},
    {"slow factor=5", Verdict::degraded, Test::bandwidth, Signature::none},
    {"fast factor=5", Verdict::degraded, Test::bandwidth, Signature::none},
};

}  // namespace

TEST_CASE("selftest, simulated: no fault, two GPUs → passed, no result is anything else") {
  auto options = quick_options();
  options.links = direct_links();
  options.max_bytes = 65536;
  const auto report = run(two_gpus, options);
  CHECK(report.verdict() == Verdict::passed);
  REQUIRE(report.pairs.size() == 2);
  for (const auto& pair : report.pairs) {
    CHECK(pair.reason == "");
    CHECK(pair.bytes_per_second.value_or(0) > 0.8 * link_rate);
    for (const auto& [stage, result] : pair.results)
      CHECK(name_of(result.outcome) == "passed");
  }
}

TEST_CASE("selftest, simulated: each fault → exactly its verdict, the way back is none of it") {
  for (const auto& row : rows) {
    INFO(row.knob);
    auto options = quick_options();
    options.links = direct_links();
    options.max_bytes = 65536;
    if (std::string_view(row.knob).starts_with("hang")) {
      options.test_limit = std::chrono::milliseconds(1500);
    }
    const auto report =
        run(std::string(two_gpus) + "knob " + row.knob + " from=gpu0 to=gpu1\n", options);
    REQUIRE(report.pairs.size() == 2);
    const auto& there = report.pairs[report.pairs[0].source == 0 ? 0 : 1];
    const auto& back = report.pairs[report.pairs[0].source == 0 ? 1 : 0];
    CHECK(name_of(report.verdict()) == name_of(row.verdict));
    CHECK(name_of(there.verdict) == name_of(row.verdict));
    CHECK(name_of(there.signature) == name_of(row.signature));
    REQUIRE(there.failed_test);
    CHECK(name_of(*there.failed_test) == name_of(row.test));
    CHECK(there.reason != "");
    // Flags go both ways in each test of them.
    if (row.test == Test::ping_pong) continue;
    // Where the worker died, nothing is known of the way back; otherwise it passed.
    const bool has_died = row.verdict == Verdict::hang || row.verdict == Verdict::error;
    const bool is_well = back.verdict == Verdict::passed || back.verdict == Verdict::degraded;
    CHECK((is_well || (has_died && back.verdict != Verdict::corruption)));
  }
}

TEST_CASE(
    "selftest, simulated: copies through the host fail → inconclusive, not the peers' fault") {
  const auto report = run(std::string(two_gpus) + "knob host-fault\n", quick_options());
  CHECK(name_of(report.verdict()) == "inconclusive");
}

TEST_CASE("selftest, simulated: 8 and 16 GPUs without a fault → every pair passed") {
  for (const auto* name : {"plx8.conf", "switches16.conf"}) {
    INFO(name);
    auto options = quick_options();
    options.max_bytes = 64;
    // Hundreds of workers take their time under the sanitizers: the rounds are the smaller one's.
    options.budget = std::chrono::hours(1);
    options.concurrent = std::string_view(name) == "plx8.conf";
    const auto report = run(topology(name), options);
    const auto gpus = report.gpus.size();
    CHECK(gpus == (std::string_view(name) == "plx8.conf" ? 8 : 16));
    CHECK(report.pairs.size() == gpus * (gpus - 1));
    for (const auto& pair : report.pairs)
      CHECK(name_of(pair.verdict) == "passed");
  }
}

TEST_CASE("selftest, simulated: wrong only while others write → corruption, and where") {
  // Of unknown links: all is measured alone. A second of writes: on a busy machine, too, some meet.
  auto options = quick_options();
  options.depth = Depth::deep;
  options.max_bytes = 1U << 20;
  const auto report =
      run(std::string(two_gpus) + "knob zeros op=ce-write from=gpu0 to=gpu1 when=concurrent\n",
          options);
  REQUIRE(report.pairs.size() == 2);
  INFO(report.pairs[0].reason);
  CHECK(name_of(report.verdict()) == "corruption");
  CHECK(name_of(report.pairs[0].failed_test.value_or(Test::staged_copy)) == "concurrent");
  CHECK(name_of(report.pairs[0].signature) == "zeros");
  CHECK(name_of(report.pairs[1].verdict) == "passed");
}

TEST_CASE("selftest, simulated: two GPUs on a switch, two roots besides → both write to those") {
  std::string configuration = "node hub\n";
  auto options = quick_options();
  options.max_bytes = 64;
  const std::vector<std::string> bdfs{"0000:01:00.0", "0000:02:00.0", "0000:03:00.0",
                                      "0000:04:00.0"};
  for (std::size_t a = 0; a < bdfs.size(); ++a) {
    configuration += fmt::format("gpu gpu{} {}\nlink gpu{} hub 25e9 300\n", a, bdfs[a], a);
    for (std::size_t b = 0; b < bdfs.size(); ++b) {
      const auto nearness = a + b == 1 ? Nearness::one_switch : Nearness::host_bridge;
      if (a != b) options.links.paths[{bdfs[a], bdfs[b]}] = {{}, nearness, 0, false};
    }
  }
  const auto report = run(configuration, options);
  CHECK(name_of(report.verdict()) == "passed");
  std::set<std::pair<std::size_t, std::size_t>> fanned_out;
  for (const auto& pair : report.pairs) {
    for (const auto& [stage, result] : pair.results) {
      if (stage == Stage::fan_out) fanned_out.emplace(pair.source, pair.destination);
    }
  }
  CHECK(fanned_out == std::set<std::pair<std::size_t, std::size_t>>{{0, 2}, {1, 3}});
  for (const auto& line : report.not_tested)
    CHECK(line.find("one switch") == std::string::npos);
}
