// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/selftest_finding.hpp"

#include "gpu/cuda_abi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace peerpath::cli {
namespace {

using check::Finding;
using check::Status;
using gpu::RunOutcome;
using gpu::Verdict;

constexpr const char* library = "libcuda.so.1";

Finding start(Status status) {
  return {.id = "p2p.selftest", .status = status};
}

std::string remedy_for(unsigned code) {
  switch (code) {
    case gpu::cuda::system_not_ready:
      return "see to it that nvidia-fabricmanager.service runs, and check again";
    case gpu::cuda::system_driver_mismatch:
      return "reboot, or load the kernel module of the same version as the driver's library";
    case gpu::cuda::stub_library:
      return "take the CUDA Toolkit's stub out of the loader's path: libcuda.so.1 has to be the "
             "driver's";
    default:
      return "see to it that 'nvidia-smi' lists the GPUs, and read the kernel log for 'NVRM:' "
             "lines";
  }
}

/// The loader begins with the library's name, which the evidence has already.
std::string without_name(const std::string& detail) {
  const auto name = fmt::format("{}: ", library);
  return detail.starts_with(name) ? detail.substr(name.size()) : detail;
}

std::string why_too_few(std::size_t gpus) {
  if (gpus == 0) return "CUDA shows no GPU";
  return "CUDA shows one GPU, and peers need two; with MIG on, it shows one instance, and "
         "instances have no peers";
}

Finding untested(const gpu::SelftestReport& run) {
  const bool failed = run.outcome == RunOutcome::not_listed;
  auto finding = start(failed ? Status::unknown : Status::not_applicable);
  finding.evidence.push_back({library, without_name(run.detail), "two GPUs or more"});
  if (run.outcome == RunOutcome::no_driver) {
    finding.cause = "there is no NVIDIA driver";
  } else if (run.outcome == RunOutcome::too_few_gpus) {
    finding.cause = why_too_few(run.gpus.size());
  } else {
    finding.cause = "the NVIDIA driver could not be asked for its GPUs";
    finding.remedy = remedy_for(run.code);
  }
  return finding;
}

/// In the order of check::verdict.
Status status_of(const gpu::SelftestReport& run) {
  std::vector<Finding> pairs;
  for (const auto& pair : run.pairs)
    pairs.push_back({.id = "", .status = report::severity_of(pair.verdict)});
  return pairs.empty() ? Status::unknown : check::verdict(pairs);
}

std::string words_of(const gpu::PairReport& pair) {
  std::string words(name_of(pair.verdict));
  if (pair.failed_test) words += fmt::format(" in {}", name_of(*pair.failed_test));
  if (pair.signature != gpu::Signature::none) words += fmt::format(": {}", name_of(pair.signature));
  if (!pair.reason.empty()) words += fmt::format(": {}", pair.reason);
  return words;
}

/// Those that are as bad as the finding come first.
std::vector<const gpu::PairReport*> bad_pairs(const gpu::SelftestReport& run, Status status) {
  std::vector<const gpu::PairReport*> bad;
  for (const auto& pair : run.pairs) {
    if (pair.verdict != Verdict::passed) bad.push_back(&pair);
  }
  std::stable_sort(bad.begin(), bad.end(), [&](const auto* a, const auto* b) {
    const bool a_decides = report::severity_of(a->verdict) == status;
    const bool b_decides = report::severity_of(b->verdict) == status;
    return a_decides != b_decides ? a_decides : a->verdict < b->verdict;
  });
  return bad;
}

void add_pairs(const gpu::SelftestReport& run, Finding& finding) {
  constexpr std::size_t most = 8;
  const auto bad = bad_pairs(run, finding.status);
  for (std::size_t i = 0; i < std::min(bad.size(), most); ++i) {
    finding.evidence.push_back({fmt::format("{} to {}", run.gpus.at(bad[i]->source).bdf,
                                            run.gpus.at(bad[i]->destination).bdf),
                                words_of(*bad[i]), "passed"});
  }
  finding.evidence.push_back(
      {fmt::format("{} ordered pairs", run.pairs.size()), report::pair_counts(run), "all passed"});
  if (bad.empty()) return;
  const auto& worst = *bad.front();
  finding.cause =
      fmt::format("of {} ordered pairs of GPUs: {}", run.pairs.size(), report::pair_counts(run));
  finding.remedy = report::remedy_of(worst.verdict, worst.signature);
}

bool passed_in_full(const gpu::PairReport& pair) {
  return pair.verdict == Verdict::passed &&
         std::any_of(pair.results.begin(), pair.results.end(), [](const gpu::StagedResult& staged) {
           return staged.result.test == gpu::Test::sm_store &&
                  staged.result.outcome == gpu::Outcome::passed;
         });
}

/// The BDFs of the GPUs, where each ordered pair of them passed in full; none where one didn't.
std::set<std::string> proven(const gpu::SelftestReport& run) {
  const auto count = run.gpus.size();
  std::set<std::pair<std::size_t, std::size_t>> passed;
  for (const auto& pair : run.pairs) {
    if (pair.source != pair.destination && passed_in_full(pair))
      passed.emplace(pair.source, pair.destination);
  }
  std::set<std::string> bdfs;
  if (count < 2 || passed.size() != count * (count - 1) || !run.left_behind.empty()) return bdfs;
  for (const auto& gpu : run.gpus)
    bdfs.insert(gpu.bdf);
  return bdfs;
}

/// The devices that a finding speaks of: where it names none, all that were checked.
std::vector<std::string> subjects(const Finding& finding, const check::Facts& facts) {
  std::vector<std::string> bdfs;
  if (finding.device) bdfs.push_back(*finding.device);
  if (finding.peer) bdfs.push_back(*finding.peer);
  if (!bdfs.empty() || !facts.devices) return bdfs;
  for (const auto& device : *facts.devices)
    bdfs.push_back(device.bdf);
  return bdfs;
}

}  // namespace

Finding selftest_finding(const report::Selftest& selftest) {
  const auto& run = selftest.run;
  auto finding = run.outcome == RunOutcome::tested ? start(status_of(run)) : untested(run);
  if (run.outcome == RunOutcome::tested) add_pairs(run, finding);
  if (run.pairs.empty() && run.outcome == RunOutcome::tested) {
    finding.cause = "no pair of GPUs was tested";
    finding.remedy = "run 'peerpath selftest', and see what it says";
  }
  if (run.driver_version > 0) {
    finding.evidence.push_back(
        {"cuDriverGetVersion",
         fmt::format("CUDA {}.{}", run.driver_version / 1000, run.driver_version % 1000 / 10), ""});
  }
  for (const auto& line : run.not_tested)
    finding.evidence.push_back({"not tested", line, ""});
  if (!run.left_behind.empty()) {
    if (finding.status != Status::fail) finding.status = Status::unknown;
    finding.cause += finding.cause.empty() ? "" : "; ";
    finding.cause += "a process of the test doesn't end, even when killed";
    finding.remedy = "reboot: a process hangs inside the driver";
  }
  return finding;
}

Finding selftest_is_off() {
  auto finding = start(Status::not_applicable);
  finding.evidence.push_back({"peerpath.conf", "selftest=off", ""});
  finding.cause = "the settings turn the self-test off";
  return finding;
}

void weigh_by_selftest(std::vector<Finding>& findings, const check::Facts& facts,
                       const report::Selftest& selftest) {
  // Faults that the kernel logged meanwhile are as good as proof of the contrary.
  const auto bdfs = selftest.faults.empty() ? proven(selftest.run) : std::set<std::string>();
  for (auto& finding : findings) {
    if (finding.status != Status::fail) continue;
    const auto about = subjects(finding, facts);
    const auto is_proven = [&](const auto& bdf) { return bdfs.count(bdf) != 0; };
    if (about.empty() || !std::all_of(about.begin(), about.end(), is_proven)) continue;
    finding.status = Status::warn;
    finding.evidence.push_back(
        {"p2p.selftest", fmt::format("all {} ordered pairs passed", selftest.run.pairs.size()),
         ""});
    finding.cause +=
        "; a warning only, for the self-test passed on every pair: NVIDIA doesn't support it, but "
        "the data is correct today";
  }
}

}  // namespace peerpath::cli
