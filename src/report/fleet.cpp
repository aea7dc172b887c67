// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/fleet.hpp"

#include "base/text.hpp"
#include "report/selftest_report.hpp"
#include "report/timestamp.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::report {
namespace {

using check::Status;

constexpr std::int64_t feature_lifetime = 900;

/// At most so many bytes; no character is cut in two.
std::string cut(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  constexpr std::string_view end = "...";
  auto length = limit - end.size();
  const auto continues = [&] {
    return (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U;
  };
  while (length > 0 && continues())
    --length;
  return text.substr(0, length) + std::string(end);
}

int status_of(Status verdict) {
  switch (verdict) {
    case Status::ok:
    case Status::warn:
    case Status::not_applicable:
      return 0;
    case Status::fail:
      return 1;
    case Status::unknown:
      break;
  }
  return 2;
}

const gpu::PairReport* worst_pair(const VerifyReport& report) {
  if (!report.selftest || report.selftest->run.pairs.empty()) return nullptr;
  const auto& pairs = report.selftest->run.pairs;
  // Verdicts are in order, the worst first.
  return &*std::min_element(pairs.begin(), pairs.end(), [](const auto& one, const auto& other) {
    return one.verdict < other.verdict;
  });
}

/// What the finding is about: a device, two, or the worst pair where it's about all of them.
std::string subject_of(const check::Finding& finding, const VerifyReport& report) {
  if (finding.device) {
    return finding.peer ? fmt::format(" {} - {}", *finding.device, *finding.peer)
                        : " " + *finding.device;
  }
  const auto* pair = finding.id == "p2p.selftest" ? worst_pair(report) : nullptr;
  if (pair == nullptr || pair->verdict == gpu::Verdict::passed) return {};
  const auto& gpus = report.selftest->run.gpus;
  return fmt::format(" {} {} -> {}", gpu::name_of(pair->verdict), gpus.at(pair->source).bdf,
                     gpus.at(pair->destination).bdf);
}

/// What a label may hold: letters, digits, `-`, `_` and `.`, which every name of ours keeps to.
std::string feature(std::string_view name, std::string_view value) {
  return fmt::format("feature.node.kubernetes.io/peerpath.{}={}\n", name, value);
}

std::string_view selftest_word(const std::optional<VerifyReport>& report) {
  if (!report) return "unknown";
  if (!report->selftest) return "off";
  const auto& run = report->selftest->run;
  return run.outcome == gpu::RunOutcome::tested ? gpu::name_of(run.verdict())
                                                : name_of(run.outcome);
}

}  // namespace

PluginAnswer plugin_answer(const VerifyReport& report) {
  const auto decides = [&](const check::Finding& one) { return one.status == report.verdict; };
  const auto& findings = report.findings;
  std::string line(name_of(report.verdict));
  const bool says_why = report.verdict != Status::ok && report.verdict != Status::not_applicable;
  const auto first = std::find_if(findings.begin(), findings.end(), decides);
  if (says_why && first != findings.end()) {
    const auto more = std::count_if(first + 1, findings.end(), decides);
    const auto end = more > 0 ? fmt::format(" (+{} more)", more) : std::string();
    line = printable(fmt::format("{}: {}{}", line, first->id, subject_of(*first, report)));
    line = cut(std::move(line), plugin_line_limit - end.size()) + end;
  } else if (says_why) {
    line += ": no finding says why";
  } else if (report.verdict == Status::ok) {
    line += ": the GPUs' peer-to-peer check found no problem";
  } else {
    line += ": nothing to check here, such as fewer than two GPUs";
  }
  return {status_of(report.verdict), line};
}

PluginAnswer plugin_answer(std::string_view why) {
  return {2, cut(printable(fmt::format("unknown: {}", why)), plugin_line_limit)};
}

std::string feature_file(const std::optional<VerifyReport>& report, std::int64_t now) {
  return fmt::format("# +expiry-time={}\n", format_time(now + feature_lifetime)) +
         feature("verdict", report ? name_of(report->verdict) : "unknown") +
         feature("selftest", selftest_word(report));
}

}  // namespace peerpath::report
