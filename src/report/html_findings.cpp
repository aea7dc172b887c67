// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/explain.hpp"
#include "report/findings_by_cause.hpp"
#include "report/html_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::report {
namespace {

using check::Finding;

std::string cell(std::string_view text, std::string_view instead) {
  return text.empty() ? fmt::format("<td class=\"soft\">{}</td>", instead)
                      : fmt::format("<td><code>{}</code></td>", escaped(text));
}

std::string device_words(const Finding& finding) {
  auto words = finding.device.value_or("");
  if (finding.peer) words += " – " + *finding.peer;
  return words;
}

bool has_devices(const FindingGroup& group) {
  return std::any_of(group.begin(), group.end(),
                     [](const Finding* finding) { return finding->device.has_value(); });
}

/// A row for each piece of evidence; the device stands beside all of its own.
std::string rows(const Finding& finding, bool with_device) {
  std::string text;
  for (const auto& evidence : finding.evidence) {
    text += "<tr>";
    if (with_device && &evidence == &finding.evidence.front()) {
      text += fmt::format("<th scope=\"rowgroup\" rowspan=\"{}\"><code>{}</code></th>",
                          finding.evidence.size(), escaped(device_words(finding)));
    }
    text += cell(evidence.source, "–") + cell(evidence.observed, "empty") +
            cell(evidence.expected, "–") + "</tr>\n";
  }
  return text;
}

std::string evidence_table(const FindingGroup& group) {
  const bool with_device = has_devices(group);
  std::string text = fmt::format(
      "<table class=\"list\"><thead><tr>{}<th scope=\"col\">looked at</th>"
      "<th scope=\"col\">observed</th><th scope=\"col\">expected</th></tr></thead>\n",
      with_device ? "<th scope=\"col\">device</th>" : "");
  for (const auto* finding : group) {
    if (finding->evidence.empty()) continue;
    text += "<tbody>" + rows(*finding, with_device) + "</tbody>\n";
  }
  return scrolling("Evidence for " + group.front()->id, text + "</table>\n");
}

std::string cause_and_remedy(const Finding& finding) {
  std::string text;
  if (!finding.cause.empty()) {
    text += fmt::format("<dt>Cause</dt><dd>{}</dd>\n", escaped(finding.cause));
  }
  if (!finding.remedy.empty()) {
    text += fmt::format("<dt>Remedy</dt><dd class=\"remedy\">{}</dd>\n", escaped(finding.remedy));
  }
  return text.empty() ? text : "<dl>\n" + text + "</dl>\n";
}

std::string card(const FindingGroup& group) {
  const auto& first = *group.front();
  return fmt::format(
      "<section class=\"card is-{}\">\n<h3>{} {} <code>{}</code></h3>\n{}{}</section>\n",
      css_class(first.status), badge(first.status, name_of(first.status)),
      escaped(title_of(first.id)), escaped(first.id), evidence_table(group),
      cause_and_remedy(first));
}

/// Folded up: what was looked at is there for those who ask.
std::string line(const FindingGroup& group) {
  const auto& first = *group.front();
  const auto devices = has_devices(group)
                           ? fmt::format(" <span class=\"soft\">({} device{})</span>", group.size(),
                                         group.size() == 1 ? "" : "s")
                           : std::string();
  return fmt::format(
      "<details><summary>{} {} <code>{}</code>{}</summary>\n<div>{}{}</div></details>\n",
      badge(first.status, name_of(first.status)), escaped(title_of(first.id)), escaped(first.id),
      devices, evidence_table(group), cause_and_remedy(first));
}

}  // namespace

std::string html_findings(const std::vector<Finding>& findings) {
  const auto groups = by_cause(findings);
  std::string cards;
  std::string lines;
  for (const auto& group : groups)
    (says_nothing_bad(group) ? lines : cards) +=
        says_nothing_bad(group) ? line(group) : card(group);
  std::string text = "<section>\n<h2>Findings</h2>\n";
  if (groups.empty()) text += "<p>This report has no findings.</p>\n";
  text += cards;
  if (!lines.empty()) text += "<h3>Good, or not applicable</h3>\n" + lines;
  return text + "</section>\n";
}

}  // namespace peerpath::report
