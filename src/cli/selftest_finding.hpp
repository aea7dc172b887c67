// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/finding.hpp"
#include "gpu/cuda_driver.hpp"

namespace peerpath::cli {

/// What the number of GPUs says about the peer-to-peer self-test: `p2p.selftest`. Not applicable
/// without an NVIDIA driver or with fewer than two GPUs; otherwise unknown, for this version has
/// no test of the pairs.
[[nodiscard]] check::Finding selftest_finding(const gpu::DriverReport& driver);

}  // namespace peerpath::cli
