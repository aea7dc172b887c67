// SPDX-License-Identifier: GPL-2.0-or-later
// Two kernels that run at the same time, and wait for each other.
#pragma once

#include "gpu/pair_tests/pair_test.hpp"

#include <optional>

namespace peerpath::gpu {

/// Waits until both streams are done, with beats. `false` where that takes longer than the kernels'
/// own limit and some more: the GPU hangs, and no further call will return.
[[nodiscard]] CudaResult<bool> both_end(const Pair& pair);

/// What a test ends with, once it has said so, where a kernel is left running: nothing may follow
/// on these GPUs.
[[nodiscard]] tl::unexpected<CudaError> outlived_its_limit();

}  // namespace peerpath::gpu
