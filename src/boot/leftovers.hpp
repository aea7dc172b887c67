// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/ledger.hpp"

namespace peerpath::boot {

/// Removes what runs that were killed left half-written beside the files that the ledger names.
/// What can't be removed stays: nothing reads it.
void clear_leftovers(const System& system, const Ledger& ledger);

}  // namespace peerpath::boot
