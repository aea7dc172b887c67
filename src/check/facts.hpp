// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "cmdline/judge.hpp"
#include "probe/iommu.hpp"
#include "probe/kernel.hpp"
#include "probe/pci.hpp"

#include <string>
#include <vector>

namespace peerpath::check {

/// What the boot loader's configuration holds for the running kernel's version, as far as the
/// command that fills this in could tell.
struct ConfiguredBoot {
  cmdline::Mode mode = cmdline::Mode::kernel_default;
  std::string source;  ///< "/boot/grub/grub.cfg:120"
};

/// Everything that the checks may look at, each value or the reason why it couldn't be read.
struct Facts {
  Result<std::string> command_line;               ///< /proc/cmdline
  probe::Kernel kernel;                           ///< release, architecture, build configuration
  Result<std::vector<probe::PciDevice>> devices;  ///< those to be checked, by the match list
  std::string match_list;                         ///< the patterns, for evidence
  probe::IommuUnits iommu;                        ///< units and firmware tables
  Result<ConfiguredBoot> configured;
};

}  // namespace peerpath::check
