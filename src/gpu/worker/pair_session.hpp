// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "gpu/driver/cuda.hpp"
#include "gpu/worker/protocol.hpp"
#include "gpu/worker/session.hpp"

namespace peerpath::gpu {

/// All tests of the job, in both directions where it wants that. An error where no further call can
/// be of use; what was found before is said by then.
[[nodiscard]] CudaResult<> run_pair(const Cuda& cuda, const Job& job, const Parent& parent);

/// Whether a call that failed so spoils all that follow in this process.
/// Source: the comments of CUresult in cuda.h, "must be terminated and relaunched".
[[nodiscard]] bool is_sticky(cuda::Code code);

}  // namespace peerpath::gpu
