// SPDX-License-Identifier: GPL-2.0-or-later
// Carrying out edits: several files at once.
#pragma once

#include "boot/types.hpp"

#include <vector>

namespace peerpath::boot {

/// A file before and after an edit.
struct Edited {
  FileWrite before;  ///< with its time
  FileWrite after;
  std::string place;  ///< its path without symbolic links
};

/// Edits the text of the file, which is read where the plan hasn't got it at hand. Errors: those of
/// reading; conflict where the file isn't what the plan was made for.
[[nodiscard]] Result<Edited> edit_text(const System& system, const EditFile& edit);

/// Writes them all, a hundred at a time, since each needs a file descriptor. Returns the time that
/// each has got.
[[nodiscard]] Result<std::vector<timespec>> write_batch(const System& system,
                                                        const std::vector<FileWrite>& files);

}  // namespace peerpath::boot
