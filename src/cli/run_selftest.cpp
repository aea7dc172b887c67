// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/run_selftest.hpp"

#include "base/text.hpp"
#include "check/gpu_driver.hpp"
#include "cli/inflight.hpp"
#include "cli/link_graph.hpp"
#include "cli/link_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>
#include <utility>

namespace peerpath::cli {
namespace {

constexpr std::string_view worker_name = "peerpath-p2p-worker";

/// Beside this program in a build tree, in libexec where it's installed.
std::string worker_path(const System& system) {
  const auto self = system.read_link("/proc/self/exe");
  const auto directory = directory_of(self ? *self : "/usr/sbin/peerpath");
  const auto installed = fmt::format("{}/../libexec/peerpath/{}", directory, worker_name);
  return system.exists(installed) ? installed : fmt::format("{}/{}", directory, worker_name);
}

/// Seconds since boot, by the clock of the kernel log, or nearly so.
double uptime() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// The log's clock isn't disciplined as CLOCK_MONOTONIC is: they part by milliseconds an hour.
constexpr double clock_slack = 1.0;

std::vector<std::string> addresses(const check::Facts& facts) {
  return facts.tree ? facts.tree->devices : std::vector<std::string>();
}

/// The function, its physical function and all bridges above.
std::set<std::string> way_up(const check::Facts& facts, const std::string& bdf) {
  std::set<std::string> way{bdf};
  if (!facts.tree) return way;
  const auto* node = facts.tree->find(bdf);
  if (node != nullptr && node->physical_function) way.insert(*node->physical_function);
  while (node != nullptr && node->parent && way.insert(*node->parent).second)
    node = facts.tree->find(*node->parent);
  return way;
}

/// Many kernels leave the domain out of a line, and then it reads as 0.
bool names_one_of(const std::string& named, const std::set<std::string>& bdfs) {
  if (bdfs.count(named) != 0) return true;
  return named.starts_with("0000:") && std::any_of(bdfs.begin(), bdfs.end(), [&](const auto& bdf) {
           return bdf.ends_with(named.substr(4));
         });
}

std::string line_of(const probe::LogFault& fault) {
  return fmt::format("[{:.6f}] {}", fault.line.time, fault.line.text);
}

void add_line(std::vector<std::string>& lines, std::string line) {
  constexpr std::size_t most = 8;
  if (lines.size() > most) return;
  lines.push_back(lines.size() < most ? std::move(line) : "and more lines like these");
}

void look_for_faults(const System& system, const check::Facts& facts, double since,
                     report::Selftest& selftest) {
  const auto faults = probe::read_fault_lines(system, since - clock_slack);
  if (!faults) {
    selftest.notes.push_back("the kernel log of this run isn't known: " + faults.error().text());
    return;
  }
  tie_faults(facts, *faults, selftest);
  const auto nameless =
      std::count_if(faults->begin(), faults->end(), [](const auto& fault) { return !fault.bdf; });
  if (nameless > 0) {
    selftest.notes.push_back(fmt::format(
        "{} faults that name no device came into the kernel log during this run", nameless));
  }
}

}  // namespace

ExitStatus exit_status_of(const gpu::SelftestReport& run) {
  switch (run.outcome) {
    case gpu::RunOutcome::no_driver:
    case gpu::RunOutcome::too_few_gpus:
      return ExitStatus::not_applicable;
    case gpu::RunOutcome::not_listed:
      return ExitStatus::unknown;
    case gpu::RunOutcome::tested:
      break;
  }
  bool is_unknown = run.pairs.empty();
  for (const auto& pair : run.pairs) {
    const auto severity = report::severity_of(pair.verdict);
    if (severity == check::Status::fail) return ExitStatus::check_failed;
    is_unknown = is_unknown || severity == check::Status::unknown;
  }
  return is_unknown ? ExitStatus::unknown : ExitStatus::good;
}

std::vector<gpu::SkippedGpu> skipped_gpus(const check::Facts& facts) {
  std::vector<gpu::SkippedGpu> skipped;
  if (!facts.gpus) return skipped;
  for (const auto& gpu : facts.gpus->gpus) {
    if (gpu.mig.value_or(false)) {
      skipped.push_back({gpu.bdf, "MIG is on, and its instances have no peers"});
    } else if (const auto processes = gpu.processes.value_or(0); processes > 0) {
      skipped.push_back({gpu.bdf, fmt::format("{} process{} on it", processes,
                                              processes == 1 ? " computes" : "es compute")});
    }
  }
  return skipped;
}

void say_hidden(const check::Facts& facts, gpu::SelftestReport& run) {
  constexpr unsigned nvidia = 0x10de;
  constexpr unsigned display = 0x03;
  if (!facts.devices || run.listed.empty()) return;
  for (const auto& device : *facts.devices) {
    const bool is_listed =
        std::find(run.listed.begin(), run.listed.end(), device.bdf) != run.listed.end();
    if (device.vendor != nvidia || device.class_code >> 16 != display || is_listed) continue;
    const auto line = device.bdf + ": CUDA doesn't show this GPU";
    run.not_tested.push_back(line);
    if (run.outcome == gpu::RunOutcome::too_few_gpus) run.detail += "; " + line;
  }
}

void explain_unsupported(const check::Facts& facts, gpu::SelftestReport& run) {
  if (!facts.gpus) return;
  for (auto& pair : run.pairs) {
    if (pair.verdict != gpu::Verdict::unsupported && pair.verdict != gpu::Verdict::asymmetric) {
      continue;
    }
    const auto why = check::why_no_access(*facts.gpus, run.gpus.at(pair.source).bdf,
                                          run.gpus.at(pair.destination).bdf);
    if (why.empty()) continue;
    pair.reason += (pair.reason.empty() ? "" : "; ") + why;
  }
}

void tie_faults(const check::Facts& facts, const std::vector<probe::LogFault>& faults,
                report::Selftest& selftest) {
  const auto& run = selftest.run;
  for (std::size_t i = 0; i < run.pairs.size(); ++i) {
    const auto& pair = run.pairs[i];
    const double began = static_cast<double>(pair.began_us) / 1e6 - clock_slack;
    const double ended = static_cast<double>(pair.ended_us) / 1e6 + clock_slack;
    if (pair.ended_us == 0) continue;
    auto bdfs = way_up(facts, run.gpus.at(pair.source).bdf);
    bdfs.merge(way_up(facts, run.gpus.at(pair.destination).bdf));
    for (const auto& fault : faults) {
      const bool is_meanwhile = fault.line.time >= began && fault.line.time <= ended;
      if (!is_meanwhile || !fault.bdf || !names_one_of(*fault.bdf, bdfs)) continue;
      add_line(selftest.faults[i], line_of(fault));
    }
  }
}

report::Selftest run_selftest(const System& system, const check::Facts& facts,
                              const SelftestChoice& choice) {
  const auto& boot_id = facts.kernel.boot_id;
  InflightNote note(system, boot_id ? std::optional(*boot_id) : std::nullopt);
  gpu::SelftestOptions options;
  options.worker = worker_path(system);
  options.depth = choice.depth;
  options.loopback = choice.loopback;
  options.only = choice.only;
  options.max_bytes = choice.max_bytes;
  options.budget = choice.budget;
  options.concurrent = choice.concurrent;
  options.links = link_graph(facts, addresses(facts));
  if (!choice.force) options.skipped_pairs = note.skipped();
  options.skipped_gpus = skipped_gpus(facts);
  gpu::SelftestHooks hooks;
  hooks.note_inflight = [&](const std::vector<gpu::Inflight>& tests) -> Result<> {
    note.begin(tests);
    return {};
  };
  LinkWatch links(system, facts);
  hooks.progress = [&](const gpu::Progress& progress) {
    links.look();
    if (choice.progress) choice.progress(progress);
  };

  const double began = uptime();
  report::Selftest selftest;
  selftest.run = gpu::run_selftest(options, hooks);
  note.end(selftest.run);
  say_hidden(facts, selftest.run);
  selftest.notes = note.notes();
  if (selftest.run.outcome != gpu::RunOutcome::tested) return selftest;
  for (auto& line : links.slow_links())
    selftest.notes.push_back(std::move(line));
  explain_unsupported(facts, selftest.run);
  look_for_faults(system, facts, began, selftest);
  return selftest;
}

}  // namespace peerpath::cli
