// SPDX-License-Identifier: GPL-2.0-or-later
// What the two ways to set up GRUB by its settings have in common: the lines that add our word, and
// the generation of grub.cfg.
#pragma once

#include "boot/grub_settings.hpp"
#include "boot/types.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::boot {

/// Shell text for GRUB's settings. The word is left out again when a later edit of the
/// administrator's contradicts it, and when the package was removed without its scripts.
[[nodiscard]] std::string grub_addition(const System& system, const Request& request);

/// The request with `force` where the addition that's there was forced: that was asked for once,
/// and stays until `revert`.
[[nodiscard]] Request standing_request(const Request& request,
                                       const std::optional<std::string_view>& present);

/// Whether every entry made from these settings boots untranslated.
[[nodiscard]] Result<bool> makes_untranslated(const GrubSettings& settings, cmdline::Arch arch);

/// An addition must change nothing but what it's for, wherever it's read.
/// Errors: unsupported, naming `path`.
[[nodiscard]] Result<> check_grub_addition(const System& system, const std::string& path,
                                           const Request& request, const GrubSettings& before,
                                           const GrubSettings& after);

/// The administrator's word that forbids going on, if there's one: in the settings without our
/// addition, which is in the file `ours`, or in an entry that no generator wrote.
[[nodiscard]] Result<std::optional<Conflict>> find_conflict(const System& system,
                                                            const GrubSettings& theirs,
                                                            std::string_view ours,
                                                            const std::vector<JudgedEntry>& entries,
                                                            const Request& request);

/// Whether a grub.cfg has an entry that the settings would now give another mode. One whose mode
/// can't be known counts only when the settings have just changed, or the plan had no end.
[[nodiscard]] bool is_stale(const std::vector<JudgedEntry>& entries, bool settings_changed);

/// Whether an entry that the generator wrote has our word.
[[nodiscard]] bool has_word_of_ours(const Entry& entry);

/// A GRUB's generator with its probe: "grub-mkconfig" and "grub-probe", or "grub2-…".
struct GrubGenerator {
  std::string mkconfig;              ///< the program's path
  std::string probe;                 ///< the program's name
  std::vector<std::string> configs;  ///< what it writes, links resolved; empty: not there yet
  std::string command;               ///< what people run: "update-grub"
};

/// Adds the generation of each grub.cfg, or why that can't be done here and now. `brings` is what
/// a later one will do: "brings the word".
/// Fact: grub-mkconfig asks grub-probe for the devices; in a chroot without /dev it fails, and
/// took package installs with it (delphix/appliance-build#185).
[[nodiscard]] Result<> add_generation(const System& system, const BootLoader& loader,
                                      const GrubGenerator& generator, std::string_view brings,
                                      Plan& plan);

}  // namespace peerpath::boot
