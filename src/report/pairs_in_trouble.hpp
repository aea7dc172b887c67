// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "gpu/selftest/selftest.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::report {

/// Pairs of which the same is to be said, as indices into `SelftestReport::pairs`. Never empty.
using PairGroup = std::vector<std::size_t>;

/// All that didn't pass, the worst first.
[[nodiscard]] std::vector<PairGroup> pairs_in_trouble(const gpu::SelftestReport& run);

/// What stands in a matrix: at most three columns, so that 16 GPUs fit into a line of 80.
[[nodiscard]] std::string_view code_of(gpu::Verdict verdict);

/// What the result that decided about the pair says of the data; may be empty.
[[nodiscard]] std::string data_words(const gpu::PairReport& pair);

}  // namespace peerpath::report
