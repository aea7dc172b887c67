// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath {

/// Without leading and trailing spaces, tabs and line ends (CR too: files come from everywhere).
[[nodiscard]] std::string_view trim(std::string_view text);

/// The lines of a text without their ends, LF or CRLF. A last line without an end counts.
[[nodiscard]] std::vector<std::string_view> lines(std::string_view text);

/// The fields between separators; empty fields are kept.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// The words between runs of white space.
[[nodiscard]] std::vector<std::string_view> words(std::string_view text);

/// The elements with `separator` between them.
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// The whole text as an unsigned number in the base, without sign or prefix; nothing otherwise.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text, int base = 10);

/// Whether all of the text is well-formed UTF-8.
[[nodiscard]] bool is_utf8(std::string_view text);

/// Safe to print on a terminal: control bytes and bytes that are not UTF-8 become `\xNN`.
[[nodiscard]] std::string printable(std::string_view text);

/// The last component of a path: all of it where it has no slash.
[[nodiscard]] std::string base_name(std::string_view path);

/// The path without its last component: "/" for one in the root itself.
[[nodiscard]] std::string directory_of(std::string_view path);

/// Whether the text ends so, in ASCII capitals or not.
[[nodiscard]] bool ends_with_no_case(std::string_view text, std::string_view suffix);

/// A library's complaint without the tag in brackets that it begins with: `[json.exception…] `.
[[nodiscard]] std::string_view without_tag(std::string_view complaint);

/// `*` matches any text, everything else itself.
[[nodiscard]] bool matches_glob(std::string_view pattern, std::string_view text);

}  // namespace peerpath
