// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "sys/system.hpp"

#include <optional>
#include <string>

namespace peerpath::probe {

/// The choices of a kernel's build configuration that decide what it does with an empty command
/// line. Fact: drivers/iommu/Kconfig; a choice of three since 5.15, PASSTHROUGH alone before.
struct KernelConfig {
  enum class Default { lazy, strict, passthrough };
  Default default_domain = Default::lazy;
  bool intel_default_on = false;      ///< CONFIG_INTEL_IOMMU_DEFAULT_ON
  std::string source = {};            ///< the file that says so; empty from parse_kernel_config
  bool memory_encryption_on = false;  ///< CONFIG_AMD_MEM_ENCRYPT_ACTIVE_BY_DEFAULT; up to 6.8
};

/// The running kernel; in a recorded tree what was recorded of it.
struct Kernel {
  Result<std::string> release;     ///< uname -r, or /proc/sys/kernel/osrelease in a recorded tree
  Result<std::string> machine;     ///< uname -m, or /proc/sys/kernel/arch
  Result<std::string> boot_id;     ///< /proc/sys/kernel/random/boot_id
  Result<KernelConfig> config;     ///< /boot/config-RELEASE, or config beside the modules
  Result<std::string> bootconfig;  ///< /proc/bootconfig; empty where the kernel has none
};

[[nodiscard]] Kernel read_kernel(const System& system);

/// Errors: malformed where the text mentions none of the options, set or not.
[[nodiscard]] Result<KernelConfig> parse_kernel_config(const std::string& text);

}  // namespace peerpath::probe
