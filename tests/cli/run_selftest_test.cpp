// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/run_selftest.hpp"

#include "cli/progress.hpp"
#include "cli/selftest_options.hpp"
#include "report/sample_selftest.hpp"
#include "support/catch.hpp"

using namespace peerpath;
using gpu::Outcome;
using gpu::RunOutcome;
using gpu::Signature;
using gpu::Verdict;

namespace {

ExitStatus status_with(std::initializer_list<Verdict> verdicts) {
  auto selftest = passed_selftest(3);
  std::size_t i = 0;
  for (const auto verdict : verdicts)
    selftest.run.pairs[i++].verdict = verdict;
  return cli::exit_status_of(selftest.run);
}

/// Two GPUs below ports of one switch, as far as the kernel log needs it.
check::Facts facts() {
  probe::PciTree tree;
  const auto add = [&](const std::string& bdf, const std::optional<std::string>& parent) {
    probe::PciNode node;
    node.bdf = bdf;
    node.parent = parent;
    tree.nodes.emplace(bdf, node);
  };
  add("0000:01:01.0", std::nullopt);
  add("0000:02:00.0", "0000:01:01.0");
  add("0000:1b:00.0", "0000:02:00.0");
  add("0000:1c:00.0", "0000:02:00.0");
  check::Facts facts;
  facts.tree = tree;
  return facts;
}

probe::LogFault fault(const std::string& bdf, double time) {
  return {probe::DmaFault::Source::intel, bdf, {time, "DMAR: [DMA Write] " + bdf}};
}

}  // namespace

TEST_CASE("exit_status_of: verdicts of pairs → the worst of failed, unknown and good") {
  CHECK(status_with({}) == ExitStatus::good);
  for (const auto verdict :
       {Verdict::corruption, Verdict::host_died, Verdict::hang, Verdict::error}) {
    CHECK(status_with({verdict}) == ExitStatus::check_failed);
    CHECK(status_with({Verdict::inconclusive, verdict}) == ExitStatus::check_failed);
  }
  for (const auto verdict : {Verdict::asymmetric, Verdict::unsupported, Verdict::degraded})
    CHECK(status_with({verdict}) == ExitStatus::good);
  CHECK(status_with({Verdict::inconclusive}) == ExitStatus::unknown);
  CHECK(status_with({Verdict::degraded, Verdict::inconclusive}) == ExitStatus::unknown);
}

TEST_CASE("exit_status_of: no pairs → not applicable, or could not tell") {
  gpu::SelftestReport run;
  run.outcome = RunOutcome::no_driver;
  CHECK(cli::exit_status_of(run) == ExitStatus::not_applicable);
  run.outcome = RunOutcome::too_few_gpus;
  CHECK(cli::exit_status_of(run) == ExitStatus::not_applicable);
  run.outcome = RunOutcome::not_listed;
  CHECK(cli::exit_status_of(run) == ExitStatus::unknown);
  run.outcome = RunOutcome::tested;
  CHECK(cli::exit_status_of(run) == ExitStatus::unknown);
}

TEST_CASE("skipped_gpus: MIG and computing programs → skipped with the reason, nothing else") {
  auto known = facts();
  check::GpuStatus status;
  status.gpus = {{"0000:1b:00.0", false, 1, 0},
                 {"0000:1c:00.0", true, 1, 3},
                 {"0000:1d:00.0", std::nullopt, 1, 1},
                 {"0000:1e:00.0", std::nullopt, 1, 2},
                 {"0000:1f:00.0", std::nullopt, 1, std::nullopt}};
  known.gpus = status;
  const auto skipped = cli::skipped_gpus(known);
  REQUIRE(skipped.size() == 3);
  CHECK(skipped[0].bdf == "0000:1c:00.0");
  CHECK(skipped[0].reason == "MIG is on, and its instances have no peers");
  CHECK(skipped[1].reason == "1 process computes on it");
  CHECK(skipped[2].reason == "2 processes compute on it");
  known.gpus = fail(Errc::not_found, "no library");
  CHECK(cli::skipped_gpus(known).empty());
}

TEST_CASE("say_hidden: a GPU on the bus that CUDA doesn't show → not tested, and said") {
  check::Facts facts;
  std::vector<probe::PciDevice> devices(4);
  devices[0] = {"0000:1b:00.0", 0x10de, 0x2330, 0x030200, "nvidia", {}, {}};
  devices[1] = {"0000:1c:00.0", 0x10de, 0x2330, 0x030200, "nvidia", {}, {}};
  devices[2] = {"0000:1d:00.0", 0x10de, 0x22a3, 0x068000, "", {}, {}};      // NVSwitch
  devices[3] = {"0000:9d:00.0", 0x15b3, 0x1021, 0x020700, "mlx5", {}, {}};  // a NIC
  facts.devices = devices;
  auto run = passed_selftest(2).run;
  run.not_tested.clear();
  run.listed = {"0000:1b:00.0", "0000:1c:00.0"};
  cli::say_hidden(facts, run);
  CHECK(run.not_tested.empty());
  run.listed.pop_back();
  run.outcome = RunOutcome::too_few_gpus;
  run.detail = "1 of 1 GPUs to be tested, 2 are needed";
  cli::say_hidden(facts, run);
  CHECK(run.not_tested == std::vector<std::string>{"0000:1c:00.0: CUDA doesn't show this GPU"});
  CHECK(run.detail.find("; 0000:1c:00.0: CUDA doesn't show this GPU") != std::string::npos);
}

TEST_CASE("explain_unsupported: pairs without access → the driver's letters with their meaning") {
  auto selftest = passed_selftest(2);
  auto& pair = pair_of(selftest, 0, 1);
  pair.verdict = Verdict::unsupported;
  pair.reason = "no peer access";
  check::GpuStatus status;
  status.peers[{"0000:1b:00.0", "0000:1c:00.0"}] = {"CNS", "CNS", "NS", "CNS"};
  status.peers[{"0000:1c:00.0", "0000:1b:00.0"}] = {"CNS", "CNS", "NS", "CNS"};
  auto known = facts();
  known.gpus = status;
  cli::explain_unsupported(known, selftest.run);
  CHECK(pair.reason.rfind("no peer access; CNS, chipset not supported", 0) == 0);
  CHECK(pair_of(selftest, 1, 0).reason.empty());  // it passed, whatever the letters say
}

TEST_CASE("tie_faults: the log during a test → to pairs of that GPU or a bridge above, no others") {
  auto selftest = passed_selftest(3);
  for (auto& pair : selftest.run.pairs) {
    pair.began_us = 100'000'000;
    pair.ended_us = 110'000'000;
  }
  selftest.run.gpus[2].bdf = "0000:99:00.0";
  auto& pair = pair_of(selftest, 0, 1);
  pair.began_us = 50'000'000;
  pair.ended_us = 60'000'000;
  cli::tie_faults(facts(),
                  {fault("0000:1b:00.0", 55), fault("0000:01:01.0", 56), fault("0000:77:00.0", 57),
                   fault("0000:1b:00.0", 70)},
                  selftest);
  REQUIRE(selftest.faults.size() == 1);
  CHECK(selftest.faults.at(0) ==
        std::vector<std::string>{"[55.000000] DMAR: [DMA Write] 0000:1b:00.0",
                                 "[56.000000] DMAR: [DMA Write] 0000:01:01.0"});
}

TEST_CASE("tie_faults: a line without a domain → the GPU of that address in another domain") {
  auto selftest = passed_selftest(2);
  selftest.run.gpus[0].bdf = "0001:1b:00.0";
  cli::tie_faults(facts(), {fault("0000:1b:00.0", 1.5)}, selftest);
  CHECK(selftest.faults.size() == 2);
}

TEST_CASE("tie_faults: a flood of lines → eight, and that there are more") {
  auto selftest = passed_selftest(2);
  cli::tie_faults(facts(), std::vector<probe::LogFault>(100, fault("0000:1b:00.0", 1.5)), selftest);
  REQUIRE(selftest.faults.at(0).size() == 9);
  CHECK(selftest.faults.at(0).back() == "and more lines like these");
}

TEST_CASE("tie_faults: a pair that wasn't tested → nothing") {
  auto selftest = passed_selftest(2);
  for (auto& pair : selftest.run.pairs)
    pair.began_us = pair.ended_us = 0;
  cli::tie_faults(facts(), {fault("0000:1b:00.0", 0.5)}, selftest);
  CHECK(selftest.faults.empty());
}

TEST_CASE("parse_gpu_name: addresses in any form and UUIDs → as the self-test has them") {
  CHECK(cli::parse_gpu_name("0000:3B:00.0") == "0000:3b:00.0");
  CHECK(cli::parse_gpu_name("3b:00.0") == "0000:3b:00.0");
  CHECK(cli::parse_gpu_name("GPU-2f0a") == "GPU-2f0a");
  for (const char* bad : {"", "GPU-", "0", "3b", "gpu0", "zz:00.0"}) {
    INFO(bad);
    REQUIRE_FALSE(cli::parse_gpu_name(bad));
    CHECK(cli::parse_gpu_name(bad).error().code == Errc::usage);
  }
}

TEST_CASE("parse_size: numbers with and without a unit → bytes; anything else is refused") {
  CHECK(cli::parse_size("8") == 8U);
  CHECK(cli::parse_size("64K") == 65536U);
  CHECK(cli::parse_size("2M") == 2097152U);
  CHECK(cli::parse_size("1G") == 1073741824U);
  for (const char* bad : {"", "K", "7", "0", "-1", "1T", "1k", "1 M", "99999999999G"}) {
    INFO(bad);
    CHECK_FALSE(cli::parse_size(bad));
  }
}

TEST_CASE("parse_budget: seconds up to a day → taken; anything else is refused") {
  CHECK(cli::parse_budget("1") == std::chrono::seconds(1));
  CHECK(cli::parse_budget("86400") == std::chrono::seconds(86400));
  for (const char* bad : {"", "0", "86401", "1.5", "10s", "-3"}) {
    INFO(bad);
    CHECK_FALSE(cli::parse_budget(bad));
  }
}

TEST_CASE("progress_line: steps of all → bar, share, time left and what runs, in the width") {
  gpu::Progress progress;
  progress.done = 3;
  progress.all = 12;
  progress.left = std::chrono::seconds(75);
  progress.now = "0000:3b:00.0 -> 0000:86:00.0 ce-write";
  CHECK(cli::progress_line(progress, 80) ==
        "[#####...............]  25 %  1 min 15 s left  0000:3b:00.0 -> 0000:86:00.0 ce-w");
  progress.done = 99;
  progress.left = std::chrono::seconds(0);
  CHECK(cli::progress_line(progress, 34) == "[####################] 100 %  0 s ");
  CHECK(cli::progress_line({}, 80) == "[....................]   0 %  0 s left  ");
}
