// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "cmdline/judge.hpp"
#include "probe/iommu.hpp"
#include "probe/iommu_groups.hpp"
#include "probe/kernel.hpp"
#include "probe/kernel_log.hpp"
#include "probe/machine.hpp"
#include "probe/nvidia.hpp"
#include "probe/pci.hpp"
#include "probe/pci_tree.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace peerpath::check {

/// What the boot loader's configuration holds for the running kernel's version, as far as the
/// command that fills this in could tell.
struct ConfiguredBoot {
  cmdline::Mode mode = cmdline::Mode::kernel_default;
  std::string source;  ///< "/boot/grub/grub.cfg:120"
};

/// What the NVIDIA driver says of its GPUs, by its management interface.
struct GpuStatus {
  struct Gpu {
    std::string bdf;
    std::optional<bool> mig;                   ///< nothing where the GPU doesn't know of it
    std::optional<std::uint64_t> memory_size;  ///< bytes of its own memory
    std::optional<unsigned> processes = {};    ///< that compute on it; nothing: not known
  };
  /// How a GPU may reach another one's memory, in NVML's letters: OK, CNS, GNS, TNS, DR, NS, U.
  struct Peer {
    std::string read;
    std::string write;
    std::string nvlink;
    std::string atomics;
  };
  std::vector<Gpu> gpus;
  std::map<std::pair<std::string, std::string>, Peer> peers;  ///< by the BDFs, from and to
  std::optional<bool> confidential_computing;  ///< nothing where the driver doesn't know of it
};

/// Everything that the checks may look at, each value or the reason why it couldn't be read.
struct Facts {
  Result<std::string> command_line;               ///< /proc/cmdline
  probe::Kernel kernel;                           ///< release, architecture, build configuration
  Result<std::vector<probe::PciDevice>> devices;  ///< those to be checked, by the match list
  std::string match_list;                         ///< the patterns, for evidence
  probe::IommuUnits iommu;                        ///< units and firmware tables
  Result<ConfiguredBoot> configured;
  Result<probe::PciTree> tree;            ///< of `devices`
  std::vector<probe::IommuGroup> groups;  ///< of `devices`
  Result<probe::KernelLog> log;
  probe::Machine machine;
  probe::NvidiaModule nvidia;
  /// Errors: not_found without the driver; unsupported where it isn't asked, as in a recorded tree.
  Result<GpuStatus> gpus;
};

}  // namespace peerpath::check
