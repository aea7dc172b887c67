// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/regenerate.hpp"

#include "boot/judge_entry.hpp"
#include "boot/tool.hpp"

#include <fmt/format.h>

#include <tuple>

namespace peerpath::boot {
void clear_generated(const System& system, const std::string& artefact) {
  // grub-mkconfig itself works in FILE.new.
  for (const auto* suffix : {".peerpath-new", ".peerpath-new.new"}) {
    if (system.link_info(artefact + suffix)) std::ignore = system.remove_file(artefact + suffix);
  }
}

Result<> regenerate(const System& system, const Regenerate& step) {
  const auto fresh = step.path + ".peerpath-new";
  const auto clear = [&] { clear_generated(system, step.path); };
  clear();
  const auto failed = [&](Errc code, const std::string& why) {
    clear();
    return fail(code, fmt::format("'{}' stays as it is: {}", system.shown(step.path), why));
  };
  Command command{.argv = step.command, .limit = std::chrono::minutes(10)};
  command.argv.push_back(fresh);
  const auto result = system.run(command);
  if (!result) return failed(result.error().code, result.error().text());
  if (result->status != 0) {
    return failed(Errc::command_failed,
                  fmt::format("'{}' ended with status {}: {}", step.command.front(), result->status,
                              last_line(result->err)));
  }
  const auto old_text = system.read(step.path);
  if (!old_text) return failed(old_text.error().code, old_text.error().text());
  const auto new_text = system.read(fresh);
  if (!new_text) return failed(Errc::command_failed, "the generator wrote nothing");
  const auto before = step.loader->inspect_artefact(system, step.path, *old_text);
  if (!before) return failed(before.error().code, before.error().text());
  const auto after = step.loader->inspect_artefact(system, step.path, *new_text);
  if (!after) return failed(after.error().code, after.error().text());
  if (const auto lost = lost_entries(*before, *after)) {
    return failed(Errc::command_failed, fmt::format("the new one from '{}' can't be trusted: {}",
                                                    step.command.front(), *lost));
  }
  // Mode and owner stay, as they do when grub-mkconfig writes over an existing file.
  auto written = system.write(step.path, *new_text);
  clear();
  return written;
}

}  // namespace peerpath::boot
