// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/grub_settings.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

/// Sources the files as grub-mkconfig does it (`set -e`, one shell, in order), then prints the
/// two variables. `=` stands for the changed file, whose text comes in a variable since it isn't
/// written yet. What the files themselves print must not get between. A mark goes out before each
/// file, so that the one at which the shell stops is known.
constexpr std::string_view source_script = R"(set -e
exec 3>&1 1>&2
for peerpath_file; do
  printf '\0' >&3
  case $peerpath_file in
    =) eval "$PEERPATH_CHANGE" ;;
    *) . "$peerpath_file" ;;
  esac
  case $- in
    *f*) echo "'set -f' keeps grub-mkconfig from reading /etc/default/grub.d"; exit 1 ;;
  esac
done
printf '%s\0%s\0done' "${GRUB_CMDLINE_LINUX-}" "${GRUB_CMDLINE_LINUX_DEFAULT-}" >&3
)";

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

/// The shell's complaint on one line: it names the file and the line.
std::string complaint(const CommandResult& result) {
  const auto said = lines(result.err);
  const auto last = said.empty() ? std::string_view{} : trim(said.back());
  if (result.timed_out) return "the shell didn't come to an end";
  if (last.empty()) return fmt::format("the shell ended with status {}", result.status);
  return printable(last);
}

}  // namespace

Result<std::vector<std::string>> grub_settings_files(const System& system, SettingsFiles which) {
  std::vector<std::string> files;
  // A dangling link is listed too: it's the administrator's file, and reading it must fail aloud.
  if (system.link_info(grub_settings_path)) files.emplace_back(grub_settings_path);
  if (which == SettingsFiles::main_alone) return files;
  const auto names = system.list(grub_settings_directory);
  if (!names && names.error().code == Errc::not_found &&
      !system.link_info(grub_settings_directory)) {
    return files;
  }
  if (!names) return fail(names.error());
  for (const auto& name : *names) {
    // As the shell's `*.cfg`: no hidden files.
    if (name.ends_with(".cfg") && !name.starts_with('.')) {
      files.push_back(fmt::format("{}/{}", grub_settings_directory, name));
    }
  }
  return files;
}

Result<GrubSettings> evaluate_grub_settings(const System& system,
                                            const std::optional<SettingsChange>& change,
                                            SettingsFiles which) {
  auto files = grub_settings_files(system, which);
  if (!files) return fail(files.error());
  if (change) {
    auto place = std::lower_bound(files->begin(), files->end(), change->path);
    if (place == files->end() || *place != change->path) {
      place = files->insert(place, change->path);
    }
    if (!change->content) files->erase(place);
  }

  if (files->empty()) return GrubSettings{};
  Command command;
  command.argv = {"/bin/sh", "-c", std::string(source_script), "sh"};
  command.limit = std::chrono::seconds(30);
  for (const auto& file : *files) {
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
                    .while_doing(fmt::format("reading GRUB's settings in '{}'", system.root())));
  }
  const auto fields = split(result->out, '\0');
  const auto read = files->size();
  if (result->status != 0 || fields.size() != read + 3 || fields.back() != "done") {
    // As many marks as files were begun; none where the shell itself failed.
    const auto begun = std::min(fields.size() - 1, read);
    const auto& file = files->at(begun == 0 ? 0 : begun - 1);
    return fail(Errc::malformed,
                fmt::format("'{}' can't be sourced: {}", system.shown(file), complaint(*result)));
  }
  return GrubSettings{std::string(fields[read]), std::string(fields[read + 1])};
}

Conflict locate_in_grub_settings(const System& system, const std::string& word,
                                 std::string_view except) {
  Conflict found{word, "", 0};
  const auto files = grub_settings_files(system);
  if (!files) return found;
  for (const auto& file : *files) {
    const auto text = system.read(file);
    if (!text || file == except) continue;
    std::size_t number = 0;
    for (const auto line : lines(*text)) {
      ++number;
      if (trim(line).starts_with('#') || line.find(word) == std::string_view::npos) continue;
      found.file = file;
      found.line = number;
    }
  }
  return found;
}

}  // namespace peerpath::boot
