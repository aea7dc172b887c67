// SPDX-License-Identifier: GPL-2.0-or-later
// Settings that are shell scripts: only a shell knows what they come to.
#pragma once

#include "sys/system.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::boot {

/// A settings file in place of the one of the same name, or of none (`content` nothing).
struct SettingsChange {
  std::string path;
  std::optional<std::string> content;
};

/// How the tool that the settings are for reads them.
struct ShellSettings {
  std::string shell;                   ///< its path in the root
  std::string_view options;            ///< "-eu"
  std::vector<std::string> files;      ///< in that order, by their paths
  std::vector<std::string> variables;  ///< what's asked for
  std::string_view check = {};         ///< commands that are run after each file
};

/// The values of the variables after the root's own shell has sourced the files, with `change` in
/// force if there's one. Nothing is written.
/// Errors: malformed, with the file's name and the shell's message, where one doesn't source
/// cleanly or isn't a text; those of reading and of running the shell.
[[nodiscard]] Result<std::vector<std::string>> source_settings(
    const System& system, ShellSettings settings, const std::optional<SettingsChange>& change);

}  // namespace peerpath::boot
