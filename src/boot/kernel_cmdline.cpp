// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/kernel_cmdline.hpp"

#include "base/text.hpp"
#include "boot/added_word.hpp"
#include "boot/platform.hpp"
#include "cmdline/tokenise.hpp"
#include "cmdline/why_not.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

/// A line that has words.
struct Line {
  Slice words;
  std::size_t number = 0;
  bool comment = false;
};

struct Cmdline {
  std::string text;
  std::vector<Line> lines;
};

Cmdline parse_cmdline(std::string text, CmdlineReader reader) {
  Cmdline found{std::move(text), {}};
  std::size_t begin = 0;
  std::size_t number = 0;
  while (begin < found.text.size()) {
    const auto end = std::min(found.text.find('\n', begin), found.text.size());
    const auto content = trim(std::string_view(found.text).substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (content.empty()) continue;
    const auto from = static_cast<std::size_t>(content.data() - found.text.data());
    const bool comment = content.front() == '#';
    found.lines.push_back({{from, from + content.size()}, number, comment});
    if (reader == CmdlineReader::proxmox && !comment) break;
  }
  return found;
}

/// The command lines that may come of it: comments are left out, but older versions of systemd's
/// plugin take their words for the kernel's.
std::vector<std::string> command_lines(const Cmdline& cmdline, CmdlineReader reader) {
  std::vector<std::string> without;
  std::vector<std::string> with;
  for (const auto& line : cmdline.lines) {
    const std::string words(line.words.of(cmdline.text));
    with.push_back(words);
    if (!line.comment) without.push_back(words);
  }
  std::vector<std::string> all{join(without, " ")};
  if (with.size() != without.size() && reader == CmdlineReader::kernel_install) {
    all.push_back(join(with, " "));
  }
  return all;
}

bool is_untranslated(const std::vector<std::string>& lines, cmdline::Arch arch) {
  return std::ranges::all_of(lines, [&](const std::string& line) {
    return cmdline::is_untranslated(cmdline::judge(line, arch).mode);
  });
}

std::optional<Conflict> find_conflict(const Cmdline& cmdline, CmdlineReader reader,
                                      cmdline::Arch arch) {
  for (const auto& line : command_lines(cmdline, reader)) {
    const auto contrary = cmdline::contradicts_passthrough(cmdline::judge(line, arch));
    if (!contrary) continue;
    Conflict conflict{contrary->text, std::string(kernel_cmdline_path), 0};
    for (const auto& [slice, number, comment] : cmdline.lines) {
      if (has_word(slice.of(cmdline.text), contrary->text)) conflict.line = number;
    }
    return conflict;
  }
  return std::nullopt;
}

/// Where the word goes: at the end, so that it's the last; before a bare `--`, though, after which
/// the kernel heeds nothing. An empty slice at the beginning where there's no line with words.
Line line_for_word(const Cmdline& cmdline) {
  Line found;
  for (const auto& line : cmdline.lines) {
    if (line.comment) continue;
    found = line;
    const auto tokens = cmdline::tokenise(line.words.of(cmdline.text));
    if (std::ranges::any_of(tokens, [](const auto& token) { return token.ends_parameters(); })) {
      break;
    }
  }
  return found;
}

/// Nothing where there's no such file.
Result<std::optional<Cmdline>> read_cmdline(const System& system, CmdlineReader reader) {
  if (!system.link_info(kernel_cmdline_path)) return std::optional<Cmdline>{};
  auto text = system.read(kernel_cmdline_path);
  if (!text) return fail(text.error());
  return std::optional(parse_cmdline(std::move(*text), reader));
}

}  // namespace

Result<> add_kernel_cmdline(const System& system, const Request& request, Plan& plan,
                            CmdlineReader reader) {
  const auto cmdline = read_cmdline(system, reader);
  if (!cmdline) return fail(cmdline.error());
  if (!*cmdline) return {};
  const auto& text = (*cmdline)->text;
  const std::string path(kernel_cmdline_path);
  const auto word = cmdline::passthrough_word(request.arch);
  if (std::ranges::any_of((*cmdline)->lines,
                          [&](const Line& line) { return has_word(line.words.of(text), word); })) {
    plan.theirs.push_back(path);
  }
  if (is_untranslated(command_lines(**cmdline, reader), request.arch)) return {};
  if (auto conflict = find_conflict(**cmdline, reader, request.arch); conflict && !request.force) {
    plan.conflict = std::move(*conflict);
    return {};
  }
  const auto line = line_for_word(**cmdline);
  auto edit = add_word(path, text, line.words, word);
  if (line.words.begin == line.words.end) edit.inserted += '\n';
  edit.keep_mtime = true;
  const auto after = parse_cmdline(edited(text, edit).value_or(""), reader);
  for (const auto& made : command_lines(after, reader)) {
    if (cmdline::is_untranslated(cmdline::judge(made, request.arch).mode)) continue;
    return fail(
        Errc::unsupported,
        fmt::format("'{}': line {}: '{}' at the end of it wouldn't work: {}", system.shown(path),
                    line.number, word, cmdline::why_not_in_force(made, word, request.arch)));
  }
  plan.steps.emplace_back(std::move(edit));
  return {};
}

Result<> take_kernel_cmdline(const System& system, const Ledger& ledger, Plan& plan) {
  const std::string path(kernel_cmdline_path);
  if (!is_ours(ledger, path)) return {};
  const auto cmdline = read_cmdline(system, CmdlineReader::kernel_install);
  if (!cmdline) return fail(cmdline.error());
  if (!*cmdline) return {};
  for (const auto& line : (*cmdline)->lines) {
    if (line.comment) continue;
    for (const auto arch : arches_of_words(system)) {
      auto edit =
          take_word(ledger, path, (*cmdline)->text, line.words, cmdline::passthrough_word(arch));
      if (!edit) continue;
      edit->keep_mtime = true;
      plan.steps.emplace_back(std::move(*edit));
      return {};
    }
  }
  return {};
}

}  // namespace peerpath::boot
