// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/kernel_cmdline.hpp"

#include "base/text.hpp"
#include "boot/added_word.hpp"
#include "boot/platform.hpp"

#include <fmt/format.h>

namespace peerpath::boot {
namespace {

struct Cmdline {
  std::string text;
  Slice line;              ///< the first that has words; the beginning where there's none
  std::size_t number = 1;  ///< of that line
};

/// The first line that's neither blank nor a comment. Newer versions of systemd skip comments,
/// older ones don't: those hand them to the kernel, which doesn't heed such words.
Cmdline find_line(std::string text) {
  Cmdline found{std::move(text), {}};
  std::size_t begin = 0;
  std::size_t number = 1;
  while (begin < found.text.size()) {
    const auto end = std::min(found.text.find('\n', begin), found.text.size());
    const auto content = trim(std::string_view(found.text).substr(begin, end - begin));
    if (!content.empty() && content.front() != '#') {
      const auto from = static_cast<std::size_t>(content.data() - found.text.data());
      found.line = {from, from + content.size()};
      found.number = number;
      return found;
    }
    begin = end + 1;
    ++number;
  }
  return found;
}

/// Nothing where there's no such file.
Result<std::optional<Cmdline>> read_cmdline(const System& system) {
  if (!system.link_info(kernel_cmdline_path)) return std::optional<Cmdline>{};
  auto text = system.read(kernel_cmdline_path);
  if (!text) return fail(text.error());
  return std::optional(find_line(std::move(*text)));
}

}  // namespace

Result<> note_kernel_cmdline(const System& system, const Request& request, Plan& plan) {
  const auto cmdline = read_cmdline(system);
  if (!cmdline) return fail(cmdline.error());
  if (*cmdline &&
      has_word((*cmdline)->line.of((*cmdline)->text), cmdline::passthrough_word(request.arch))) {
    plan.theirs.emplace_back(kernel_cmdline_path);
  }
  return {};
}

Result<> add_kernel_cmdline(const System& system, const Request& request, Plan& plan) {
  const auto cmdline = read_cmdline(system);
  if (!cmdline) return fail(cmdline.error());
  if (!*cmdline) return {};
  const auto& [text, line, number] = **cmdline;
  const std::string path(kernel_cmdline_path);
  const auto word = cmdline::passthrough_word(request.arch);
  const auto judgement = cmdline::judge(line.of(text), request.arch);
  if (has_word(line.of(text), word)) plan.theirs.push_back(path);
  if (cmdline::is_untranslated(judgement.mode)) return {};
  if (const auto contrary = cmdline::contradicts_passthrough(judgement);
      contrary && !request.force) {
    plan.conflict = Conflict{contrary->text, path, number};
    return {};
  }
  auto edit = add_word(path, text, line, word);
  if (line.begin == line.end) edit.inserted += '\n';
  edit.keep_mtime = true;
  const auto after = find_line(edited(text, edit).value_or(""));
  if (!cmdline::is_untranslated(cmdline::judge(after.line.of(after.text), request.arch).mode)) {
    return fail(Errc::unsupported,
                fmt::format("'{}': line {}: '{}' at the end of it wouldn't work (an open quote, "
                            "binary data, or a line that's too long)",
                            system.shown(path), number, word));
  }
  plan.steps.emplace_back(std::move(edit));
  return {};
}

Result<> take_kernel_cmdline(const System& system, const Ledger& ledger, Plan& plan) {
  const std::string path(kernel_cmdline_path);
  if (!is_ours(ledger, path)) return {};
  const auto cmdline = read_cmdline(system);
  if (!cmdline) return fail(cmdline.error());
  if (!*cmdline) return {};
  for (const auto arch : arches_of_words(system)) {
    auto edit = take_word(ledger, path, (*cmdline)->text, (*cmdline)->line,
                          cmdline::passthrough_word(arch));
    if (!edit) continue;
    edit->keep_mtime = true;
    plan.steps.emplace_back(std::move(*edit));
    break;
  }
  return {};
}

}  // namespace peerpath::boot
