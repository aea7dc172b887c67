// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/exit_status.hpp"
#include "boot/apply.hpp"
#include "boot/types.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::boot {

struct Options {
  bool dry_run = false;
  bool force = false;                      ///< against the administrator's contrary words
  bool arm64_passthrough = false;          ///< arm64 is left alone unless asked for
  std::optional<std::string> kernel = {};  ///< only this version counts for the outcome
  /// For unified kernel images that were built elsewhere; see `Request`.
  bool uki_addon = false;
  std::string secure_boot_key = {};
  std::string secure_boot_certificate = {};
  /// What's to be said of boot partitions that aren't mounted. Nothing is proven with them where
  /// the boot loader reads such partitions.
  std::vector<std::string> unmounted = {};
};

/// What a command found and did.
struct Outcome {
  std::string command;
  std::string root;
  std::string boot_loader;  ///< empty where none was found
  std::string result;       ///< "unchanged", "changed", "conflict", "unsupported", ...
  ExitStatus status = ExitStatus::good;
  bool dry_run = false;
  bool changed = false;
  bool reboot_required = false;
  std::optional<std::string> deferred;  ///< why the boot loader's file couldn't be made now
  std::optional<Conflict> conflict;
  std::vector<JudgedEntry> entries;
  std::vector<std::string> unfollowed;  ///< what may boot besides the entries, unjudged
  std::vector<Change> changes;
  std::vector<std::string> messages;
};

/// Makes the next boot of every kernel passthrough. Errors: bad settings, those of writing; all
/// that's decided, a conflict or an unsupported boot loader too, is an outcome.
[[nodiscard]] Result<Outcome> ensure(const System& system, const Options& options);

/// Takes away exactly what `ensure` added.
[[nodiscard]] Result<Outcome> revert(const System& system, const Options& options);

/// Reads the boot loader's final files and tells the mode of each kernel; changes nothing.
[[nodiscard]] Result<Outcome> audit(const System& system, const Options& options);

}  // namespace peerpath::boot
