// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "check/facts.hpp"
#include "gpu/nvml_driver.hpp"

namespace peerpath::cli {

/// What the management library said, as the checks take it. Errors: not_found where there's no
/// driver, its library or its kernel module; denied; busy where it doesn't answer; malformed for a
/// library that can't be used; command_failed for a failed call; internal.
[[nodiscard]] Result<check::GpuStatus> gpu_status(const gpu::NvmlReport& report,
                                                  const probe::NvidiaModule& module);

}  // namespace peerpath::cli
