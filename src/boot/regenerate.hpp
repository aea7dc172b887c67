// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

namespace peerpath::boot {

/// Runs the generator and puts its file into place if nothing is lost by that. What's put there
/// are the very bytes that were audited, in a file of our own: a generator that outlived a run of
/// ours that was killed may still write to the one that it was given.
/// Errors: each says that the old file stays, and why.
[[nodiscard]] Result<> regenerate(const System& system, const Regenerate& step);

/// What a run that was killed left half-generated beside an artefact.
void clear_generated(const System& system, const std::string& artefact);

}  // namespace peerpath::boot
