// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/bls_entry.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace peerpath::boot {
namespace {

constexpr std::string_view blanks = " \t";

/// Without blanks at either end.
Slice trimmed(std::string_view text, Slice slice) {
  while (slice.begin < slice.end && blanks.find(text[slice.begin]) != std::string_view::npos)
    ++slice.begin;
  while (slice.end > slice.begin && blanks.find(text[slice.end - 1]) != std::string_view::npos)
    --slice.end;
  return slice;
}

void add_line(BlsEntry& entry, Slice whole, std::size_t number) {
  const auto content = trimmed(entry.text, whole);
  const auto line = content.of(entry.text);
  if (line.empty()) return;
  if (line.front() == '#') {
    if (line.starts_with("#OsIdentifier:")) entry.by_boom = true;
    return;
  }
  const auto key_length = std::min(line.find_first_of(blanks), line.size());
  // An empty value begins after the blanks that follow the key, so that one can be put in there.
  Slice value{content.begin + key_length, content.end};
  if (value.begin == value.end) value = {whole.end, whole.end};
  entry.fields.push_back({line.substr(0, key_length), trimmed(entry.text, value), number});
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// A boot counter's length at the end of a name without its suffix.
std::size_t counter_length(std::string_view name) {
  const auto plus = name.rfind('+');
  if (plus == std::string_view::npos) return 0;
  const auto counter = name.substr(plus + 1);
  const auto dash = counter.find('-');
  const bool good = is_digits(counter.substr(0, dash)) &&
                    (dash == std::string_view::npos || is_digits(counter.substr(dash + 1)));
  return good ? name.size() - plus : 0;
}

}  // namespace

std::vector<BlsField> BlsEntry::all(std::string_view key) const {
  std::vector<BlsField> found;
  for (const auto& field : fields) {
    if (field.key == key) found.push_back(field);
  }
  return found;
}

std::string_view BlsEntry::value(std::string_view key) const {
  for (const auto& field : fields) {
    if (field.key == key) return field.value.of(text);
  }
  return "";
}

BlsEntry parse_bls_entry(std::string_view text) {
  BlsEntry entry;
  entry.text = text;
  std::size_t number = 1;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto end = std::min(text.find_first_of("\r\n", begin), text.size());
    add_line(entry, {begin, end}, number);
    begin = end + 1;
    if (end < text.size() && text[end] == '\r' && begin < text.size() && text[begin] == '\n') {
      ++begin;
    }
    ++number;
  }
  return entry;
}

std::optional<std::string_view> grub_value(std::string_view text, std::string_view key) {
  for (auto line : lines(text)) {
    while (!line.empty() && blanks.find(line.front()) != std::string_view::npos)
      line.remove_prefix(1);
    if (line.starts_with('#')) continue;
    if (line.ends_with('\r')) line.remove_suffix(1);
    auto at = line.find(' ');
    if (at == std::string_view::npos) at = line.find('\t');
    if (at == std::string_view::npos || at + 1 == line.size()) return std::nullopt;
    if (line.substr(0, at) != key) continue;
    line.remove_prefix(std::min(line.find_first_not_of(blanks, at), line.size()));
    return line;
  }
  return std::nullopt;
}

Slice unquoted(std::string_view text, Slice value) {
  const auto words = value.of(text);
  if (words.size() < 2 || words.front() != '"' || words.back() != '"') return value;
  return {value.begin + 1, value.end - 1};
}

std::string_view without_boot_counter(std::string_view stem) {
  return stem.substr(0, stem.size() - counter_length(stem));
}

}  // namespace peerpath::boot
