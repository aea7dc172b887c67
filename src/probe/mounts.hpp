// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "sys/system.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace peerpath::probe {

/// A mounted file system. Fact: proc_pid_mountinfo(5).
struct Mount {
  std::string device_number;  ///< MAJOR:MINOR of st_dev: an anonymous one with Btrfs and others
  std::string source;         ///< the device's node, or what the file system calls its source
  std::string directory;
  std::string type;
};

/// Errors: malformed with the line's number.
[[nodiscard]] Result<std::vector<Mount>> parse_mountinfo(std::string_view text);

/// What is mounted on the booted system, as this process sees it. Errors: those of reading,
/// malformed; unsupported for any other root.
[[nodiscard]] Result<std::vector<Mount>> read_mounts(const System& system);

}  // namespace peerpath::probe
