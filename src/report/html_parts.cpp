// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/html_parts.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace peerpath::report {
namespace {

using check::Status;
using check::Translation;

std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return "";
  }
}

/// The number of a character of three bytes that turns the direction of writing (Unicode Standard
/// Annex 9), or that XML doesn't take (U+FFFE, U+FFFF); else nothing.
unsigned odd_character(std::string_view text) {
  if (text.size() < 3) return 0;
  const auto bits = [&](std::size_t i, unsigned mask) {
    return static_cast<unsigned char>(text[i]) & mask;
  };
  if (bits(0, 0xF0) != 0xE0) return 0;
  const unsigned number = bits(0, 0x0F) << 12 | bits(1, 0x3F) << 6 | bits(2, 0x3F);
  const bool turns = number == 0x200E || number == 0x200F ||
                     (number >= 0x202A && number <= 0x202E) ||
                     (number >= 0x2066 && number <= 0x2069);
  return turns || number >= 0xFFFE ? number : 0;
}

}  // namespace

std::string escaped(std::string_view text) {
  const auto safe = printable(text);
  std::string markup;
  for (std::size_t i = 0; i < safe.size(); ++i) {
    if (const auto number = odd_character(std::string_view(safe).substr(i)); number != 0) {
      markup += fmt::format("\\u{:04x}", number);
      i += 2;
    } else if (const auto entity = entity_of(safe[i]); !entity.empty()) {
      markup += entity;
    } else {
      markup += safe[i];
    }
  }
  return markup;
}

std::string_view css_class(Status status) {
  return status == Status::not_applicable ? "na" : name_of(status);
}

std::string_view symbol(Status status) {
  switch (status) {
    case Status::ok:
      return "✓";
    case Status::warn:
      return "!";
    case Status::fail:
      return "✗";
    case Status::unknown:
      return "?";
    case Status::not_applicable:
      break;
  }
  return "–";
}

std::string badge(Status status, std::string_view text) {
  return fmt::format(R"(<span class="badge {}"><span aria-hidden="true">{}</span> {}</span>)",
                     css_class(status), symbol(status), escaped(text));
}

std::string scrolling(std::string_view label, std::string_view markup) {
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n{}</div>\n",
      escaped(label), markup);
}

Status severity_of(Translation mode) {
  switch (mode) {
    case Translation::identity:
    case Translation::no_iommu:
      return Status::ok;
    case Translation::translated:
    case Translation::unusable:
      return Status::fail;
    case Translation::unknown:
      break;
  }
  return Status::unknown;
}

std::string mode_words(const TopologyNode::Iommu& iommu) {
  std::string words = "unknown";
  for (const auto& [mode, name] : iommu_modes) {
    if (mode == iommu.mode) words = name;
  }
  if (iommu.mode == Translation::no_iommu) words = "no IOMMU";
  if (iommu.mode == Translation::unknown) words = "IOMMU mode unknown";
  if (iommu.detail.empty() || iommu.detail == words) return words;
  return fmt::format("{} ({})", words, iommu.detail);
}

}  // namespace peerpath::report
