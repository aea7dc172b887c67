// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmdline/why_not.hpp"

#include "cmdline/judge.hpp"
#include "cmdline/tokenise.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::cmdline {

std::string why_not_in_force(std::string_view command_line, std::string_view word, Arch arch) {
  if (command_line.find('\0') != std::string_view::npos)
    return "a NUL byte ends the line before it";
  if (is_too_long(command_line, arch)) {
    return fmt::format("the line would have {} bytes, and the kernel keeps {}", command_line.size(),
                       kept_bytes(arch));
  }
  const auto tokens = tokenise(command_line);
  if (std::ranges::any_of(tokens, &Token::open_quote)) return "an open quote takes it in";
  const auto same = [&](const Token& token) { return token.text == word; };
  const auto last = std::ranges::find_if(tokens.rbegin(), tokens.rend(), same);
  if (last == tokens.rend()) return "it isn't a word of its own in what the kernel gets";
  if (last->for_init) return "it comes after a bare '--', where the kernel doesn't heed it";
  const auto judgement = judge(command_line, arch);
  for (const auto& ignored : judgement.ignored) {
    if (ignored.word.text == word) return ignored.reason;
  }
  return "the line comes to " + std::string(name_of(judgement.mode));
}

}  // namespace peerpath::cmdline
