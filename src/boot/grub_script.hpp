// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::boot {

/// A part of a word of GRUB script: literal text, or a variable to be put in.
struct GrubPiece {
  std::string text;
  bool variable = false;
  bool quoted = false;  ///< a quoted variable isn't split into words

  bool operator==(const GrubPiece&) const = default;
};
using GrubWord = std::vector<GrubPiece>;

/// A command with its words, and the blocks that it's in.
struct GrubCommand {
  std::vector<GrubWord> words;
  std::size_t line = 0;             ///< counted from 1
  std::vector<std::string> titles;  ///< of the enclosing submenus and the menu entry
  bool in_menu_entry = false;
  std::string section;  ///< grub-mkconfig's `### BEGIN /etc/grub.d/10_linux ###`: that path
};

/// Reads GRUB script: quotes, escapes, comments, continued lines, blocks in braces.
/// Conditions aren't evaluated: the commands of every branch are returned.
/// Errors: malformed, with the line, for an unterminated quote, a block or a condition without its
/// end, binary data.
/// Fact: GRUB manual, "Writing full configuration files directly"; grub-core/script/yylex.l.
[[nodiscard]] Result<std::vector<GrubCommand>> parse_grub_script(std::string_view text);

/// The literal text of a word, variables left as `$name`.
[[nodiscard]] std::string text_of(const GrubWord& word);

/// What variables may hold. Whether an assignment is reached isn't known, so that being unset is
/// always possible, too.
struct GrubVariables {
  std::map<std::string, std::vector<std::string>, std::less<>> values;
  /// Those whose value can't be known before the boot. So are `$1`, `$?` and the like.
  std::set<std::string, std::less<>> unknowable;
  /// The environment block is there and couldn't be read: any variable may have come from it.
  bool environment_unread = false;
};

/// The values that the commands assign (`set name=value`, `name=value`). A name that any other
/// command gets as a word (`search --set=name`, `read name`, `for name in`) is unknowable.
[[nodiscard]] GrubVariables variables_of(const std::vector<GrubCommand>& commands);

/// The lines that GRUB may hand to the kernel for these words: every combination of the variables'
/// values and of being unset, quoted anew as GRUB does it; the set ones come first. Empty where a
/// value can't be known, or there are more than 64 combinations.
/// Fact: grub-core/loader/linux.c or lib/cmdline.c grub_create_loader_cmdline puts double quotes
/// around a word with a space and a backslash before quotes and backslashes.
[[nodiscard]] std::vector<std::string> kernel_lines(const std::vector<GrubWord>& words,
                                                    const GrubVariables& variables);

}  // namespace peerpath::boot
