// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/shell_settings.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

/// Sources the files in one shell, then prints the variables. `=` stands for the changed file,
/// whose text comes in a variable since it isn't written yet. A `return` in it is to end it as it
/// ends a file, for which it must be in a function; only then, since bash makes what is declared
/// there local. What the files themselves print must not get between. A mark goes out before each
/// file, so that the one at which the shell stops is known.
std::string script(const ShellSettings& settings) {
  std::string values;
  for (const auto& variable : settings.variables)
    values += fmt::format(" \"${{{}-}}\"", variable);
  return fmt::format(R"(set {}
exec 3>&1 1>&2
peerpath_change() {{ eval "$PEERPATH_CHANGE"; }}
for peerpath_file; do
  printf '\0' >&3
  case $peerpath_file,${{PEERPATH_CHANGE-}} in
    =,*return*) peerpath_change ;;
    =,*) eval "$PEERPATH_CHANGE" ;;
    *) . "$peerpath_file" ;;
  esac
  {}
done
printf '%s\0'{} >&3
printf done >&3
)",
                     settings.options, settings.check, values);
}

Result<> check_readable_text(const System& system, const std::string& path) {
  const auto text = system.read(path);
  if (!text) return fail(text.error());
  if (const auto nul = text->find('\0'); nul != std::string::npos) {
    const auto line = std::count(text->begin(), text->begin() + static_cast<long>(nul), '\n') + 1;
    return fail(Errc::malformed,
                fmt::format("'{}': line {}: binary data", system.shown(path), line));
  }
  return {};
}

/// Puts the changed file among the others.
void change_files(std::vector<std::string>& files, const SettingsChange& change) {
  auto place = std::ranges::lower_bound(files, change.path);
  const bool there = place != files.end() && *place == change.path;
  if (there && !change.content) files.erase(place);
  if (!there && change.content) files.insert(place, change.path);
}

/// The shell's complaint on one line: it names the file and the line.
std::string complaint(const CommandResult& result) {
  const auto said = lines(result.err);
  const auto last = said.empty() ? std::string_view{} : trim(said.back());
  if (result.timed_out) return "the shell didn't come to an end";
  if (last.empty()) return fmt::format("the shell ended with status {}", result.status);
  return printable(last);
}

}  // namespace

Result<std::vector<std::string>> source_settings(const System& system, ShellSettings settings,
                                                 const std::optional<SettingsChange>& change) {
  auto& files = settings.files;
  if (change) change_files(files, *change);
  if (files.empty()) return std::vector<std::string>(settings.variables.size());
  Command command{.argv = {settings.shell, "-c", script(settings), "sh"},
                  .limit = std::chrono::seconds(30)};
  for (const auto& file : files) {
    if (change && file == change->path) {
      command.argv.emplace_back("=");
      command.environment.push_back("PEERPATH_CHANGE=" + *change->content);
      continue;
    }
    if (const auto text = check_readable_text(system, file); !text) return fail(text.error());
    command.argv.push_back(file);
  }
  auto result = system.run(command);
  if (!result) {
    return fail(std::move(result.error())
                    .while_doing(fmt::format("sourcing '{}'", system.shown(files.front()))));
  }
  const auto fields = split(result->out, '\0');
  const auto read = files.size();
  const auto values = settings.variables.size();
  if (result->status != 0 || fields.size() != read + values + 1 || fields.back() != "done") {
    // As many marks as files were begun; none where the shell itself failed.
    const auto begun = std::min(fields.size() - 1, read);
    const auto& file = files[begun == 0 ? 0 : begun - 1];
    return fail(Errc::malformed,
                fmt::format("'{}' can't be sourced: {}", system.shown(file), complaint(*result)));
  }
  const auto first = fields.begin() + static_cast<std::ptrdiff_t>(read);
  return std::vector<std::string>(first, first + static_cast<std::ptrdiff_t>(values));
}

}  // namespace peerpath::boot
