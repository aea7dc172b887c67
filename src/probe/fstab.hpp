// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "sys/system.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace peerpath::probe {

/// A line of /etc/fstab. Fact: fstab(5).
struct FstabEntry {
  std::string spec;       ///< UUID=..., LABEL=..., PARTUUID=..., PARTLABEL=..., /dev/... or other
  std::string directory;  ///< where it goes, without a trailing slash; "none" for swap
  std::string type;
  std::string options;   ///< empty where the line has none
  std::size_t line = 0;  ///< counted from 1
};

struct FstabFlaw {
  std::size_t line = 0;
  std::string reason;
};

struct Fstab {
  std::vector<FstabEntry> entries;
  std::vector<FstabFlaw> flaws;  ///< lines that aren't understood, which mount(8) skips, too
};

[[nodiscard]] Fstab parse_fstab(std::string_view text);

/// /etc/fstab under the root; empty where there's none. Errors: those of reading.
[[nodiscard]] Result<Fstab> read_fstab(const System& system);

/// `\040` and its kin, three octal digits, as the byte that they stand for, in fstab(5) as in
/// proc_pid_mountinfo(5). Any other backslash stands for itself.
[[nodiscard]] std::string unescape_mount_field(std::string_view field);

}  // namespace peerpath::probe
