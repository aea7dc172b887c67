// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/added_word.hpp"

#include "base/text.hpp"
#include "cmdline/tokenise.hpp"

#include <algorithm>

namespace peerpath::boot {
namespace {

bool is_blank(char byte) {
  return byte == ' ' || byte == '\t';
}

/// The last token that is the word, if any.
std::optional<cmdline::Token> find_word(std::string_view line, std::string_view word) {
  std::optional<cmdline::Token> found;
  for (const auto& token : cmdline::tokenise(line)) {
    if (token.text == word && !token.for_init) found = token;
  }
  return found;
}

/// Where the kernel's own words end: before a bare `--`, or at the end of the line.
std::size_t end_of_parameters(std::string_view line) {
  for (const auto& token : cmdline::tokenise(line)) {
    if (token.ends_parameters()) return token.offset;
  }
  return line.size();
}

}  // namespace

EditFile add_word(const std::string& path, std::string_view text, Slice line,
                  std::string_view word) {
  const auto words = line.of(text);
  auto at = end_of_parameters(words);
  const bool something_follows = at < words.size();
  while (at > 0 && is_blank(words[at - 1]))
    --at;
  EditFile edit;
  edit.path = path;
  edit.offset = line.begin + at;
  if (at > 0) {
    edit.inserted = " " + std::string(word);
  } else {
    const bool touches_key =
        line.begin > 0 && !is_blank(text[line.begin - 1]) && text[line.begin - 1] != '\n';
    edit.inserted = (touches_key ? " " : "") + std::string(word) +
                    (something_follows && !is_blank(words[0]) ? " " : "");
  }
  return edit;
}

std::optional<EditFile> take_slice(const Ledger& ledger, const std::string& path,
                                   std::string_view text) {
  const auto known = find_path(ledger.edits, path);
  if (known == ledger.edits.end()) return std::nullopt;
  EditFile edit{path, known->offset, known->inserted, ""};
  const auto before = edited(text, edit);
  if (!before || before->size() != known->size || digest_of(*before) != known->digest) {
    return std::nullopt;
  }
  return edit;
}

std::optional<EditFile> take_word(const Ledger& ledger, const std::string& path,
                                  std::string_view text, Slice line, std::string_view word) {
  if (auto exact = take_slice(ledger, path, text)) return exact;
  const auto words = line.of(text);
  const auto found = find_word(words, word);
  if (!found) return std::nullopt;
  auto begin = found->offset;
  auto end = found->end();
  if (begin > 0) {
    --begin;
  } else if (end < words.size()) {
    ++end;
  }
  return EditFile{path, line.begin + begin, std::string(words.substr(begin, end - begin)), ""};
}

bool has_word(std::string_view line, std::string_view word) {
  return find_word(line, word).has_value();
}

bool is_ours(const Ledger& ledger, std::string_view path) {
  return std::ranges::find(ledger.theirs, path) == ledger.theirs.end();
}

std::optional<std::string> edited(std::string_view text, const EditFile& edit) {
  if (edit.offset > text.size() || text.substr(edit.offset, edit.removed.size()) != edit.removed) {
    return std::nullopt;
  }
  std::string result(text.substr(0, edit.offset));
  result += edit.inserted;
  result += text.substr(edit.offset + edit.removed.size());
  return result;
}

}  // namespace peerpath::boot
