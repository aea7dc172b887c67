// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/shell_settings.hpp"
#include "boot/types.hpp"

#include <optional>
#include <string>
#include <vector>

namespace peerpath::boot {

/// Where Debian's and Ubuntu's grub-mkconfig looks for settings after /etc/default/grub.
/// Fact: Debian's grub2 patch default-grub-d; upstream has no such directory.
inline constexpr std::string_view grub_settings_path = "/etc/default/grub";
inline constexpr std::string_view grub_settings_directory = "/etc/default/grub.d";

/// Which files a grub-mkconfig reads: upstream's only /etc/default/grub.
enum class SettingsFiles { main_alone, with_directory };

/// The variables that become the kernels' command lines. 10_linux writes
/// `$linux $linux_default` for a normal entry and `single $linux` for a recovery entry.
struct GrubSettings {
  std::string linux_all;      ///< GRUB_CMDLINE_LINUX
  std::string linux_default;  ///< GRUB_CMDLINE_LINUX_DEFAULT

  [[nodiscard]] std::string normal_entry() const { return linux_all + " " + linux_default; }
  [[nodiscard]] std::string recovery_entry() const { return "single " + linux_all; }
};

/// The settings files in the order in which grub-mkconfig reads them.
[[nodiscard]] Result<std::vector<std::string>> grub_settings_files(
    const System& system, SettingsFiles which = SettingsFiles::with_directory);

/// What the settings come to: the files are sourced by the root's own /bin/sh as grub-mkconfig
/// does it, with `change` in force if there's one. Nothing is written.
/// Errors: malformed, with the shell's message that names file and line, where a file doesn't
/// source cleanly; those of running the shell.
[[nodiscard]] Result<GrubSettings> evaluate_grub_settings(
    const System& system, const std::optional<SettingsChange>& change = std::nullopt,
    SettingsFiles which = SettingsFiles::with_directory);

/// Where the settings have a word: the last file, in reading order, and the line. `except` is a
/// file of our own, which names the words that it gives way to.
[[nodiscard]] Conflict locate_in_grub_settings(const System& system, const std::string& word,
                                               std::string_view except);

}  // namespace peerpath::boot
