// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "probe/block_devices.hpp"
#include "probe/fstab.hpp"
#include "sys/system.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::probe {

/// What is known of /boot in a root.
struct BootDirectory {
  std::optional<FstabEntry> entry;  ///< fstab's line for it, `noauto` or not
  bool mounted = false;             ///< something is mounted on it now
  bool has_kernel = false;          ///< it holds an image of a kernel
  bool booted_root = false;         ///< the root is the booted system
  bool device_here = false;         ///< this machine has the device that fstab names
};

/// Whether what /boot holds now is what will boot.
struct BootDirectoryVerdict {
  enum class Kind {
    fine,
    note,     ///< it's taken to be; the text says why there's a doubt
    refusal,  ///< it isn't, or there's nothing: neither to be judged nor to be written to
  };
  Kind kind = Kind::fine;
  std::string text;
};

/// A separate /boot that isn't mounted hides the files that boot; what lies in the directory itself
/// is a leftover. In an image whose disks are made later, the directory is all there is. `fstab` is
/// the file's name for the texts.
[[nodiscard]] BootDirectoryVerdict judge_boot_directory(const BootDirectory& directory,
                                                        std::string_view fstab);

using DeviceResolver = std::function<std::optional<std::string>(const std::string&)>;

struct BootDirectoryCheck {
  BootDirectoryVerdict verdict;
  std::vector<std::string> notes;  ///< lines of fstab that aren't understood
};

/// Reads what `judge_boot_directory` needs. Errors: those of reading fstab and /boot.
[[nodiscard]] Result<BootDirectoryCheck> check_boot_directory(
    const System& system, const DeviceResolver& resolve = resolve_device);

}  // namespace peerpath::probe
