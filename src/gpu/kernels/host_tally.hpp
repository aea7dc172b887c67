// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "gpu/kernels/tally.hpp"

#include <cstdint>
#include <span>

namespace peerpath::gpu {

/// What the verify kernel does, on the host: for memory that was copied back.
[[nodiscard]] Tally tally_of(std::span<const std::uint64_t> words, const Expectation& expected);

/// What the fill kernel does.
void fill_words(std::span<std::uint64_t> words, const Expectation& what);

}  // namespace peerpath::gpu
