// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "cmdline/arch.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace peerpath::cmdline {

/// A word of a command line. All text is part of the command line that it was cut from, and
/// lives as long as that.
struct Token {
  std::string_view text;                  ///< as written, quotes and all
  std::size_t offset = 0;                 ///< its first byte in the command line
  std::string_view name;                  ///< up to the first `=`, without quotes around it
  std::optional<std::string_view> value;  ///< after it, likewise; nothing without a `=`
  bool open_quote = false;                ///< a quote without an end: the word is the whole rest
  bool for_init = false;                  ///< after a bare `--`: the kernel doesn't heed it

  [[nodiscard]] std::size_t end() const { return offset + text.size(); }
  /// A bare `--`, that ends the kernel's own parameters. A quoted one ends them, too.
  [[nodiscard]] bool ends_parameters() const { return !value && name == "--"; }
};

/// Splits a command line as the kernel does: words stand between white space (the kernel's:
/// NO-BREAK SPACE of ISO 8859-1, byte 0xA0, is one), only `"` quotes, nothing escapes, one pair of
/// quotes goes from around the word and one from around the value, a NUL byte ends the text. Facts:
/// lib/cmdline.c next_arg, kernel/params.c parse_args, lib/ctype.c.
[[nodiscard]] std::vector<Token> tokenise(std::string_view command_line);

/// What separates words: space, \t \n \v \f \r and 0xA0.
[[nodiscard]] bool is_separator(char byte);

/// Whether two names are one to the kernel: `-` and `_` are the same, upper and lower case aren't.
/// Fact: kernel/params.c parameq.
[[nodiscard]] bool same_name(std::string_view a, std::string_view b);

/// How many bytes of a command line the kernel keeps: COMMAND_LINE_SIZE less the final NUL. For
/// `other` it's the smallest of all architectures.
/// Facts: arch/x86/include/asm/setup.h, arch/arm64/include/uapi/asm/setup.h,
/// include/uapi/asm-generic/setup.h.
[[nodiscard]] std::size_t kept_bytes(Arch arch);

/// Whether the kernel would cut words off the end of this command line, which it does silently.
[[nodiscard]] bool is_too_long(std::string_view command_line, Arch arch);

}  // namespace peerpath::cmdline
