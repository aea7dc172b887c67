// SPDX-License-Identifier: GPL-2.0-or-later
// From what the three reads of a buffer found to what happened to it. Pure.
#pragma once

#include "gpu/selftest/result.hpp"

#include <cstdint>
#include <optional>

namespace peerpath::gpu {

/// The words of the guard bands that are no longer the owner's poison. Offsets are in bytes from
/// the start of the data: below it they're negative.
struct GuardTally {
  std::uint64_t bad_words = 0;
  std::int64_t first_bad = 0;
};

/// A buffer, as each of those who can read it sees it. What wasn't read is empty.
struct Reads {
  Tally owner_copy = empty_tally();    ///< copied to the host in the owner's context
  std::optional<Tally> owner_kernel;   ///< read by a kernel of the owner's
  std::optional<Tally> window_copy;    ///< copied through the window in the peer's context
  std::optional<Tally> window_kernel;  ///< read through the window by a kernel of the peer's
  GuardTally guards;
};

[[nodiscard]] std::uint64_t bad_words(const Tally& tally);

/// Adds the tally of a part that begins at this word of the whole.
void add_part(Tally& whole, const Tally& part, std::uint64_t first_word);

/// Whether the owner's own reads are both right: the window need not be asked then.
[[nodiscard]] bool is_right_for_owner(const Reads& reads);

/// Outcome, signature, counts and offsets of a result; the rest of it stays as it is. What the
/// owner sees decides: a window that alone is right is a mirror, never a pass.
void judge(const Reads& reads, TestResult& result);

}  // namespace peerpath::gpu
