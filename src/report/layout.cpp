// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/layout.hpp"

#include "base/text.hpp"
#include "report/status.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::report {
namespace {

bool begins_character(char c) {
  return (c & 0xC0) != 0x80;  // no byte that continues a UTF-8 sequence
}

std::string_view colour_of(check::Status status) {
  switch (status) {
    case check::Status::fail:
      return "\033[1;31m";
    case check::Status::unknown:
      return "\033[1;35m";
    case check::Status::warn:
      return "\033[1;33m";
    case check::Status::ok:
      return "\033[1;32m";
    case check::Status::not_applicable:
      break;
  }
  return "\033[2m";
}

}  // namespace

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string shortened(std::string_view text, std::size_t width, std::string_view end) {
  if (columns(text) <= width) return std::string(text);
  auto left = width - std::min(width, columns(end));
  std::size_t kept = 0;
  while (kept < text.size() && (left > 0 || !begins_character(text[kept]))) {
    if (begins_character(text[kept])) --left;
    ++kept;
  }
  return std::string(text.substr(0, kept)) + std::string(end);
}

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

std::string painted(std::string_view text, check::Status status, bool colour) {
  if (!colour) return std::string(text);
  return fmt::format("{}{}\033[0m", colour_of(status), text);
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
