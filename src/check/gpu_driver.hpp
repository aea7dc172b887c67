// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/facts.hpp"
#include "check/finding.hpp"

#include <string>
#include <vector>

namespace peerpath::check {

/// What the NVIDIA driver was asked of the devices to be checked.
struct AskedGpus {
  std::vector<GpuStatus::Gpu> gpus;  ///< those to be checked that the driver has, two or more
  bool confidential_computing = false;
};

/// For checks of what the driver says of several GPUs. The error is the one finding to make where
/// it can't be told: not applicable without a driver, without two GPUs that it has, and where it
/// isn't asked; unknown where asking failed, or where the driver misses a device that is bound to
/// it.
[[nodiscard]] tl::expected<AskedGpus, Finding> asked_gpus(std::string id, const Facts& facts);

/// Why the driver offers no peer access from one GPU to another, with NVML's letters: "CNS, chipset
/// not supported: ...". Empty where it offers it or doesn't say.
[[nodiscard]] std::string why_no_access(const GpuStatus& status, const std::string& from,
                                        const std::string& to);

/// The finding of a check that can't list the devices.
[[nodiscard]] Finding unlisted_devices(std::string id, const Facts& facts);

}  // namespace peerpath::check
