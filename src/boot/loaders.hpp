// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

#include <span>
#include <string>

namespace peerpath::boot {

/// Every boot loader that we can set up, in the order of detection: the first that's found owns
/// the way to boot. To add one, write its file and list it here.
[[nodiscard]] std::span<const BootLoader* const> all_boot_loaders();

/// The one that boots the system in the root. Errors: unsupported, naming what was found instead
/// and what to do by hand.
[[nodiscard]] Result<const BootLoader*> find_boot_loader(const System& system, cmdline::Arch arch);

}  // namespace peerpath::boot
