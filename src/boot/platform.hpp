// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "cmdline/judge.hpp"
#include "sys/system.hpp"

#include <optional>
#include <string>
#include <vector>

namespace peerpath::boot {

/// Errors: unsupported where the root holds no Linux system, which has an os-release file
/// (os-release(5)).
[[nodiscard]] Result<> check_linux_root(const System& system);

/// The architecture of the programs in the root, from the ELF header of its shell or init: an
/// image's needn't be this machine's. Errors: not_found where none of them can be read.
[[nodiscard]] Result<cmdline::Arch> root_arch(const System& system);

/// Whose words `ensure` may have put into this root: of its own architecture, or of either where
/// that can't be told. The other word is the administrator's, whatever it's for.
[[nodiscard]] std::vector<cmdline::Arch> arches_of_words(const System& system);

/// Why passthrough must not be asked for on this platform, if so: a Xen dom0, whose IOMMU is
/// Xen's (os-autoinst/os-autoinst-distri-opensuse#18935), or on the booted system a SEV-SNP host,
/// which loses SNP with passthrough (drivers/iommu/amd/init.c).
[[nodiscard]] Result<std::optional<std::string>> refusal(const System& system);

}  // namespace peerpath::boot
