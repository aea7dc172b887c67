// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "boot/operations.hpp"
#include "probe/block_devices.hpp"
#include "sys/system.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::cli {

/// What is known before a boot command begins.
struct BeforeBootCommand {
  std::optional<boot::Outcome> refusal;  ///< then the command isn't run
  std::vector<std::string> notes;
};

/// Looks whether the files in /boot are those that boot. Where they aren't, `ensure` and `revert`
/// end as unsupported, with nothing changed, and `audit` can't tell. Errors: those of reading
/// /etc/fstab and /boot.
[[nodiscard]] Result<BeforeBootCommand> look_before(const System& system, std::string_view command,
                                                    const boot::Options& options);

/// The partitions of the booted system from which a boot loader may read entries that nobody has
/// judged, since they aren't mounted. `messages` has a line for each, and one for each disk that
/// couldn't be read. Nothing for any other root.
struct UnmountedBootPartitions {
  std::vector<probe::BootPartition> partitions;
  std::vector<std::string> messages;
};
[[nodiscard]] UnmountedBootPartitions find_unmounted(const System& system);

/// The lines of fstab for other boot partitions than /boot that aren't mounted: where no boot
/// loader was found, its files may be there.
[[nodiscard]] std::vector<std::string> unmounted_in_fstab(const System& system);

/// Which drivers would get the GPUs with each kernel among the entries. Notes, no findings: the
/// exit status isn't theirs.
[[nodiscard]] std::vector<std::string> driver_notes(const System& system,
                                                    const boot::Outcome& outcome);

}  // namespace peerpath::cli
