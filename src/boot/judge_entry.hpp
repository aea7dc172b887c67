// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

#include <vector>

namespace peerpath::boot {

/// The mode that each entry's kernel will boot in. An entry whose possible command lines come to
/// different modes, or can't be known, has none.
[[nodiscard]] std::vector<JudgedEntry> judge_entries(const std::vector<Entry>& entries,
                                                     cmdline::Arch arch);

/// Why a newly generated artefact must not replace the old one, if so: fewer bootable entries
/// than before, a kernel that's still installed but has no entry any more, another root file system
/// or no initrd for it, an entry for another boot loader or the menu's password gone. The command
/// line's other words may differ: the administrator may have changed the settings since.
[[nodiscard]] std::optional<std::string> lost_entries(const Inspection& before,
                                                      const Inspection& after);

}  // namespace peerpath::boot
