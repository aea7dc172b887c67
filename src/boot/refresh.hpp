// SPDX-License-Identifier: GPL-2.0-or-later
// Boot loaders whose own tool brings changed settings into what they read at boot.
#pragma once

#include "boot/types.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace peerpath::boot {

/// The tool, and where it may be run.
struct Refresh {
  RunTool tool;                ///< `command` begins with the program's name
  std::string undone;          ///< "the ESPs aren't refreshed now"
  bool only_booted = true;     ///< it looks at the running machine: nowhere else
  std::string_view note = "";  ///< more for `Deferred::until`
};

/// Where a program is in the root, in the directories of the usual PATH; nothing where it isn't.
[[nodiscard]] std::optional<std::string> find_program(const System& system, std::string_view name);

/// Lets the tool run after the plan's changes, or after those of an earlier run that it hasn't
/// been run for yet. Where it can't be run, that's deferred. `good` is whether the artefacts give
/// passthrough already; nothing where they can't be read.
[[nodiscard]] Result<> add_refresh(const System& system, const Refresh& refresh,
                                   std::optional<bool> good, Plan& plan);

/// The same for a plan that takes our word away. It's deferred only if the tool ever ran for us:
/// else the word never was in the artefacts.
[[nodiscard]] Result<> add_refresh_back(const System& system, const Refresh& refresh, Plan& plan);

}  // namespace peerpath::boot
