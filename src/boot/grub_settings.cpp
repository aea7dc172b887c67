// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/grub_settings.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

// grub-mkconfig finds the files of the directory by a pattern after the first is read.
constexpr std::string_view keeps_patterns = R"(case $- in
    *f*) echo "'set -f' keeps grub-mkconfig from reading /etc/default/grub.d"; exit 1 ;;
  esac)";

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
  auto values = source_settings(system,
                                {"/bin/sh",
                                 "-e",
                                 std::move(*files),
                                 {"GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT"},
                                 keeps_patterns},
                                change);
  if (!values) return fail(values.error());
  return GrubSettings{std::move(values->at(0)), std::move(values->at(1))};
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
