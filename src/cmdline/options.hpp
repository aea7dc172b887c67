// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's own parsers of the options that the judge replays, one function an option.
#pragma once

#include "cmdline/version.hpp"

#include <optional>
#include <string_view>

namespace peerpath::cmdline {

/// What one `iommu=` changes on x86.
struct IommuOption {
  std::optional<bool> passthrough;  ///< the last of `pt` and `nopt`
  bool off = false;                 ///< `off`; nothing takes it back
  bool cut_short = false;           ///< `usedac`: what follows it in the list isn't read
};

/// Prefixes, compared with case: `ptfoo` is `pt`.
/// Fact: arch/x86/kernel/pci-dma.c iommu_setup.
[[nodiscard]] IommuOption read_iommu(std::string_view value);

/// Yes or no by the first character, or by two for `on` and `of`; nothing where the kernel
/// refuses. The letters for yes count from the first release that is known to take them: t from
/// 5.19 (5.17-rc5 doesn't), e from 6.17 (6.14 doesn't). Those for no count always: distributions
/// bring changes like these to older kernels, and a doubt must not read as passthrough.
/// Fact: lib/kstrtox.c kstrtobool.
[[nodiscard]] std::optional<bool> read_bool(std::string_view value, KernelVersion version);

/// `intel_iommu=`: whether the last of `on` and `off` says on; nothing without either. Prefixes.
/// Fact: drivers/iommu/intel/iommu.c intel_iommu_setup.
[[nodiscard]] std::optional<bool> read_intel_iommu(std::string_view value);

/// `amd_iommu=`: whether it says off; nothing takes it back. Prefixes of a list from 6.1 on;
/// before, the kernel looked at each byte anew, so that `xoff` is off. Fact:
/// drivers/iommu/amd/init.c parse_amd_iommu_options.
[[nodiscard]] bool amd_iommu_is_off(std::string_view value, KernelVersion version);

}  // namespace peerpath::cmdline
