// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

#include <span>
#include <vector>

namespace peerpath::boot {

/// Every boot loader that we can set up, in the order of detection. To add one, write its file and
/// list it here.
[[nodiscard]] std::span<const BootLoader* const> all_boot_loaders();

/// Those that boot the system in the root: one that rules alone, or all that are there. Errors:
/// unsupported, naming what was found instead and what to do by hand.
[[nodiscard]] Result<std::vector<const BootLoader*>> find_boot_loaders(const System& system,
                                                                       cmdline::Arch arch);

}  // namespace peerpath::boot
