// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "sys/system.hpp"

#include <map>
#include <optional>
#include <string>

namespace peerpath::probe {

/// The NVIDIA kernel module, as it shows itself under /proc/driver/nvidia.
struct NvidiaModule {
  /// The module's version line; nothing where it isn't loaded.
  Result<std::optional<std::string>> version;
  /// Its parameters, names as the file has them: RegistryDwords, DmaRemapPeerMmio, …
  Result<std::map<std::string, std::string>> parameters;
};

/// Reads /proc/driver/nvidia/version and params. Without the module neither is there: no version
/// and no parameters. Errors: malformed, with the line; those of reading.
/// Facts: kernel-open/nvidia/nv-procfs.c nv_procfs_read_version and nv_procfs_read_params (a line
/// is `NAME: NUMBER` or `NAME: "TEXT"`, and what's in the quotes isn't escaped).
[[nodiscard]] NvidiaModule read_nvidia_module(const System& system);

}  // namespace peerpath::probe
