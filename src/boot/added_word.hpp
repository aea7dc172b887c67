// SPDX-License-Identifier: GPL-2.0-or-later
// Our word in a command line that's somebody else's text: one slice of bytes, put in or taken out.
#pragma once

#include "boot/ledger.hpp"
#include "boot/types.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace peerpath::boot {

/// A command line inside a text: offsets of its first byte and of the one after its last.
struct Slice {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] std::string_view of(std::string_view text) const {
    return text.substr(begin, end - begin);
  }
};

/// Puts the word at the end of the command line, before what follows a bare `--`: the kernel
/// doesn't heed anything after that. Trailing blanks stay behind it.
[[nodiscard]] EditFile add_word(const std::string& path, std::string_view text, Slice line,
                                std::string_view word);

/// Takes the word out again: the very bytes that the ledger says we put in, where all the rest is
/// as it was; else the last such word, with the blank before it. Nothing where it isn't there.
[[nodiscard]] std::optional<EditFile> take_word(const Ledger& ledger, const std::string& path,
                                                std::string_view text, Slice line,
                                                std::string_view word);

/// The bytes that the ledger says we put into this text, where all the rest is as it was.
[[nodiscard]] std::optional<EditFile> take_slice(const Ledger& ledger, const std::string& path,
                                                 std::string_view text);

/// Whether the command line has exactly this word where the kernel reads it.
[[nodiscard]] bool has_word(std::string_view line, std::string_view word);

/// Whether the word in this file would be ours to take away: it wasn't there before us.
[[nodiscard]] bool is_ours(const Ledger& ledger, std::string_view path);

/// The text after the edit; nothing where the bytes to be removed aren't there.
[[nodiscard]] std::optional<std::string> edited(std::string_view text, const EditFile& edit);

}  // namespace peerpath::boot
