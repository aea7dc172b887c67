// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/layout.hpp"

#include "base/text.hpp"
#include "report/status.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::report {
namespace {

/// Columns, as far as every character has one: bytes that don't continue a UTF-8 sequence.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t width, std::string_view first,
                    std::string_view rest) {
  std::string out{first};
  std::size_t used = columns(first);
  bool line_is_empty = true;
  for (const auto word : words(text)) {
    const auto length = columns(word);
    if (!line_is_empty && used + 1 + length > width) {
      out += '\n';
      out += rest;
      used = columns(rest);
      line_is_empty = true;
    }
    if (!line_is_empty) {
      out += ' ';
      ++used;
    }
    out += word;
    used += length;
    line_is_empty = false;
  }
  out += '\n';
  return out;
}

std::string evidence_line(const check::Evidence& evidence) {
  auto line = printable(evidence.source) + ": " +
              (evidence.observed.empty() ? "empty" : printable(evidence.observed));
  if (!evidence.expected.empty()) line += " (expected " + printable(evidence.expected) + ")";
  return line;
}

std::string counts(const std::vector<check::Finding>& findings) {
  std::vector<std::string> parts;
  for (const auto status : worst_first) {
    const auto count = std::count_if(findings.begin(), findings.end(),
                                     [&](const auto& finding) { return finding.status == status; });
    if (count > 0) parts.push_back(fmt::format("{} {}", count, name_of(status)));
  }
  return parts.empty() ? "no findings" : join(parts, ", ");
}

int rank(check::Status status) {
  return static_cast<int>(std::find(worst_first.begin(), worst_first.end(), status) -
                          worst_first.begin());
}

}  // namespace peerpath::report
