// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmdline/tokenise.hpp"

#include <algorithm>

namespace peerpath::cmdline {
namespace {

std::size_t skip_separators(std::string_view text, std::size_t at) {
  while (at < text.size() && is_separator(text[at]))
    ++at;
  return at;
}

std::string_view slice(std::string_view text, std::size_t begin, std::size_t end) {
  return text.substr(begin, begin < end ? end - begin : 0);
}

/// The word that starts at `start`, which is no separator.
Token next_word(std::string_view text, std::size_t start) {
  const bool quoted = text[start] == '"';
  const std::size_t first = start + (quoted ? 1 : 0);
  bool in_quote = quoted;
  // A `=` in the first place isn't one to the kernel, so `first` can stand for "none so far".
  std::size_t equals = first;
  std::size_t end = first;
  for (; end < text.size() && (in_quote || !is_separator(text[end])); ++end) {
    if (text[end] == '=' && equals == first) equals = end;
    if (text[end] == '"') in_quote = !in_quote;
  }

  Token token;
  token.text = slice(text, start, end);
  token.offset = start;
  token.open_quote = in_quote;
  const bool has_value = equals != first;
  const bool value_quoted = has_value && equals + 1 < end && text[equals + 1] == '"';
  const bool quote_at_end = end > first && text[end - 1] == '"';
  // The kernel takes away one quote at the end, even where both the word and the value began
  // with one.
  const std::size_t content_end = (quoted || value_quoted) && quote_at_end ? end - 1 : end;
  token.name = slice(text, first, has_value ? equals : content_end);
  if (has_value) token.value = slice(text, equals + (value_quoted ? 2 : 1), content_end);
  return token;
}

}  // namespace

bool is_separator(char byte) {
  return byte == ' ' || (byte >= '\t' && byte <= '\r') || byte == '\xA0';
}

bool same_name(std::string_view a, std::string_view b) {
  const auto underscored = [](char byte) { return byte == '-' ? '_' : byte; };
  return std::ranges::equal(a, b, {}, underscored, underscored);
}

std::vector<Token> tokenise(std::string_view command_line) {
  const auto text = command_line.substr(0, command_line.find('\0'));
  std::vector<Token> tokens;
  bool for_init = false;
  for (auto at = skip_separators(text, 0); at < text.size();
       at = skip_separators(text, tokens.back().end())) {
    auto token = next_word(text, at);
    token.for_init = for_init;
    for_init = for_init || token.ends_parameters();
    tokens.push_back(token);
  }
  return tokens;
}

std::size_t kept_bytes(Arch arch) {
  return arch == Arch::other ? 511 : 2047;
}

bool is_too_long(std::string_view command_line, Arch arch) {
  const auto tokens = tokenise(command_line);
  return !tokens.empty() && tokens.back().end() > kept_bytes(arch);
}

}  // namespace peerpath::cmdline
