// SPDX-License-Identifier: GPL-2.0-or-later
// The directories that our files are in: their times before and after us, and those that we made.
#pragma once

#include "boot/ledger.hpp"

#include <string>
#include <vector>

namespace peerpath::boot {

/// Remembers a directory's time before we change something in it.
[[nodiscard]] Result<> note_directory(const System& system, Ledger& ledger,
                                      const std::string& path);

/// Notes a directory in which something will be made, or those that have to be made for it.
[[nodiscard]] Result<> note_place(const System& system, Ledger& ledger, const std::string& path);

/// Makes those of the noted directories that lead to a path.
[[nodiscard]] Result<> make_place(const System& system, const Ledger& ledger,
                                  const std::string& path);

/// Notes where the directories stand after our changes, so that `revert` can tell whether
/// somebody else changed them since.
void close_directories(const System& system, Ledger& ledger);

/// The directories that are still as we left them.
[[nodiscard]] std::vector<Ledger::Directory> untouched_directories(const System& system,
                                                                   const Ledger& ledger);

/// Gives the directories back their old times, the deepest first.
void restore_directories(const System& system, const std::vector<Ledger::Directory>& directories);

/// Removes the directories that we made, where they're empty.
void remove_created(const System& system, const Ledger& ledger);

/// Whether two times are the same to the nanosecond.
[[nodiscard]] bool same_time(const timespec& a, const timespec& b);

}  // namespace peerpath::boot
