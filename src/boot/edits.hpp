// SPDX-License-Identifier: GPL-2.0-or-later
// Carrying out edits: several files at once.
#pragma once

#include "boot/types.hpp"

#include <vector>

namespace peerpath::boot {

/// The files as they'll be after the edits, one edit a file; as they're now, with their times, in
/// `before`. Errors: those of reading; conflict where a file isn't what the plan was made for.
[[nodiscard]] Result<std::vector<FileWrite>> edited_files(const System& system,
                                                          const std::vector<EditFile>& edits,
                                                          std::vector<FileWrite>* before);

/// Writes them all, a hundred at a time, since each needs two file descriptors.
[[nodiscard]] Result<> write_batch(const System& system, const std::vector<FileWrite>& files);

}  // namespace peerpath::boot
