// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "report/explain.hpp"
#include "report/findings_by_cause.hpp"
#include "report/layout.hpp"
#include "report/selftest_report.hpp"
#include "report/timestamp.hpp"
#include "report/tree_text.hpp"
#include "report/verify_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace peerpath::report {
namespace {

using check::Finding;
using check::Status;
using Group = FindingGroup;

std::string status_word(Status status, bool colour) {
  return painted(name_of(status), status, colour);
}

std::string heading(const VerifyReport& report, const TextStyle& style) {
  const auto shown = [](const std::optional<std::string>& value) {
    return value ? printable(*value) : std::string("unknown");
  };
  auto text = fmt::format("Verdict: {} ({})\n", status_word(report.verdict, style.colour),
                          counts(report.findings));
  text += wrapped(fmt::format("kernel {} on {}, boot {}", shown(report.release),
                              shown(report.machine), shown(report.boot_id)),
                  style.width, "  ", "    ");
  text += wrapped("command line: " + shown(report.command_line), style.width, "  ", "    ");
  text += wrapped(
      fmt::format("checked {} by peerpath {}", format_time(report.time), printable(report.version)),
      style.width, "  ", "    ");
  if (!report.note.empty()) text += wrapped(printable(report.note), style.width, "  ", "  ");
  return text;
}

std::string first_line(const Group& group, const TextStyle& style) {
  const auto& first = *group.front();
  return fmt::format("{} {}: {}", status_word(first.status, style.colour), printable(first.id),
                     printable(title_of(first.id)));
}

std::string cause_line(const Finding& finding, const TextStyle& style) {
  if (finding.cause.empty()) return "";
  return wrapped("Cause: " + printable(finding.cause), style.width, "  ", "    ");
}

std::string group_text(const Group& group, const TextStyle& style) {
  const auto& first = *group.front();
  auto text = first_line(group, style) + "\n";
  for (const auto* finding : group) {
    const bool has_device = finding->device.has_value();
    const auto peer = finding->peer ? " – " + printable(*finding->peer) : "";
    if (has_device) text += "  " + printable(*finding->device) + peer + "\n";
    const std::string indent = has_device ? "    " : "  ";
    for (const auto& evidence : finding->evidence)
      text += wrapped(evidence_line(evidence), style.width, indent, indent + "  ");
  }
  text += cause_line(first, style);
  if (!first.remedy.empty()) {
    text += wrapped("Remedy: " + printable(first.remedy), style.width, "  ", "    ");
  }
  return text;
}

std::string short_line(const Group& group, const TextStyle& style) {
  const auto devices = std::count_if(group.begin(), group.end(),
                                     [](const Finding* finding) { return finding->device; });
  auto line = first_line(group, style);
  if (devices > 0) line += fmt::format(" ({} device{})", devices, devices == 1 ? "" : "s");
  return line + "\n";
}

/// A line for each; the cause once, below all that have it.
std::string short_text(const std::vector<Group>& groups, const TextStyle& style) {
  std::vector<std::string> texts;
  std::vector<std::string> causes;
  std::map<std::string_view, std::size_t> places;
  for (const auto& group : groups) {
    const auto& first = *group.front();
    const auto [place, is_new] = places.emplace(first.cause, texts.size());
    if (is_new) {
      texts.emplace_back();
      causes.push_back(cause_line(first, style));
    }
    texts[place->second] += short_line(group, style);
  }
  std::string text;
  for (std::size_t i = 0; i < texts.size(); ++i)
    text += texts[i] + causes[i];
  return text;
}

}  // namespace

std::string to_text(const VerifyReport& report, const TextStyle& style) {
  auto text = heading(report, style);
  if (!report.topology.empty()) text += "\n" + tree_text(report.topology, style);
  auto groups = by_cause(report.findings);
  const auto first_short =
      style.verbose ? groups.end() : std::find_if(groups.begin(), groups.end(), says_nothing_bad);
  for (auto group = groups.begin(); group != first_short; ++group)
    text += "\n" + group_text(*group, style);
  if (first_short != groups.end()) {
    text += "\n" + short_text({first_short, groups.end()}, style);
  }
  // Where nothing was tested the finding says it all.
  if (report.selftest && !report.selftest->run.pairs.empty())
    text += "\n" + selftest_text(*report.selftest, style);
  return text;
}

}  // namespace peerpath::report
