// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "report/explain.hpp"
#include "report/layout.hpp"
#include "report/timestamp.hpp"
#include "report/verify_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace peerpath::report {
namespace {

using check::Finding;
using check::Status;
using Group = std::vector<const Finding*>;

std::string_view colour_of(Status status) {
  switch (status) {
    case Status::fail:
      return "\033[1;31m";
    case Status::unknown:
      return "\033[1;35m";
    case Status::warn:
      return "\033[1;33m";
    case Status::ok:
      return "\033[1;32m";
    case Status::not_applicable:
      break;
  }
  return "\033[2m";
}

std::string status_word(Status status, bool colour) {
  if (!colour) return std::string(name_of(status));
  return fmt::format("{}{}\033[0m", colour_of(status), name_of(status));
}

auto key(const Finding& finding) {
  return std::tie(finding.id, finding.status, finding.cause, finding.remedy);
}

/// Findings that differ in their device and evidence alone, in the order of the worst.
std::vector<Group> grouped(const std::vector<Finding>& findings) {
  std::vector<Group> groups;
  for (const auto& finding : findings) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return key(*group.front()) == key(finding);
    });
    if (same == groups.end()) {
      groups.push_back({&finding});
    } else {
      same->push_back(&finding);
    }
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return rank(a.front()->status) < rank(b.front()->status);
  });
  return groups;
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

std::string group_text(const Group& group, const TextStyle& style) {
  const auto& first = *group.front();
  auto text = fmt::format("{} {}: {}\n", status_word(first.status, style.colour),
                          printable(first.id), printable(title_of(first.id)));
  for (const auto* finding : group) {
    const bool has_device = finding->device.has_value();
    if (has_device) text += "  " + printable(*finding->device) + "\n";
    const std::string indent = has_device ? "    " : "  ";
    for (const auto& evidence : finding->evidence)
      text += wrapped(evidence_line(evidence), style.width, indent, indent + "  ");
  }
  if (!first.cause.empty()) {
    text += wrapped("Cause: " + printable(first.cause), style.width, "  ", "    ");
  }
  if (!first.remedy.empty()) {
    text += wrapped("Remedy: " + printable(first.remedy), style.width, "  ", "    ");
  }
  return text;
}

}  // namespace

std::string to_text(const VerifyReport& report, const TextStyle& style) {
  auto text = heading(report, style);
  for (const auto& group : grouped(report.findings))
    text += "\n" + group_text(group, style);
  return text;
}

}  // namespace peerpath::report
