// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "probe/module_settings.hpp"
#include "sys/system.hpp"

#include <string>
#include <vector>

namespace peerpath::probe {

/// A module that a kernel has for NVIDIA's display controllers, by its device aliases.
struct DisplayModule {
  std::string name;       ///< with `_`
  bool built_in = false;  ///< part of the kernel: no modprobe.d keeps it away
};

/// What depmod's indexes say of one kernel.
struct KernelModules {
  std::string version;
  std::vector<DisplayModule> display;  ///< nouveau, nvidia and so on
  bool nvidia = false;                 ///< NVIDIA's own driver is built, under whatever name
  bool vfio_pci = false;               ///< as a module or built in
};

/// Reads /lib/modules/VERSION through libkmod. Compressed modules are like others. libkmod opens
/// the indexes by their path itself. No symbolic link leads it out of the root: the directory is
/// resolved first, and an index that is a link is refused, as is one that isn't whole. What remains
/// is that somebody replaces the directory or an index at the same moment.
/// Errors: not_found where depmod has made no index, unsupported where one is a link, malformed.
[[nodiscard]] Result<KernelModules> read_kernel_modules(const System& system,
                                                        const std::string& version);

/// A kernel that is going to be booted, with the words of its command lines, several where it has
/// several entries. `-` and `_` are the same in the names of parameters.
struct BootKernel {
  std::string version;
  std::vector<std::vector<std::string>> command_lines;
};

/// Which drivers would get the GPUs, from settings and modules; pure. A note a line, each begins
/// with the version. Facts: udev loads every module that has the device's alias and isn't
/// blacklisted (systemd's udev-builtin-kmod.c); `rd.driver.blacklist` is heeded in dracut's initrd
/// only (dracut.cmdline(7)); nouveau registers no driver with modeset=0 (nouveau_drm.c).
[[nodiscard]] std::vector<std::string> judge_gpu_drivers(const System& system,
                                                         const ModuleSettings& settings,
                                                         const KernelModules& modules,
                                                         const BootKernel& kernel);

/// The same for all kernels of a root. Where nothing of NVIDIA's driver is in it, that's said once.
[[nodiscard]] std::vector<std::string> predict_gpu_drivers(const System& system,
                                                           const std::vector<BootKernel>& kernels);

}  // namespace peerpath::probe
