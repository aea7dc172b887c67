// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/operations.hpp"
#include "cli/command.hpp"

namespace peerpath::cli {

/// What `ensure`, `revert` and `audit` have in common: open the root, run, render. `command` is the
/// name of the one that runs.
[[nodiscard]] Result<Answer> run_boot_command(
    const Invocation& invocation, std::string_view command,
    Result<boot::Outcome> (*operation)(const System&, const boot::Options&));

}  // namespace peerpath::cli
