// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "sys/system.hpp"

namespace peerpath {

/// Runs a program to its end, or kills its process group at the limit. `root` is a directory to
/// chroot into first, or -1. Output past 4 MiB a stream is dropped,
/// unless the command has an `on_output`. Errors as in System::run.
[[nodiscard]] Result<CommandResult> run_process(const Command& command, int root);

/// Whether this process may do everything, as root may.
[[nodiscard]] bool is_superuser();

}  // namespace peerpath
