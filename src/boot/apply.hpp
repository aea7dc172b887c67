// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

#include <string>
#include <vector>

namespace peerpath::boot {

/// A change that was made, or under `--dry-run` would be.
struct Change {
  std::string path;
  std::string action;  ///< "write", "edit", "remove", "generate", "update"
};

struct Applied {
  std::vector<Change> changes;
  /// The generator's failure: the artefact is as it was, the other changes stand, so that the
  /// next run of the generator by anybody brings our word, or takes it away.
  std::optional<Error> not_generated;
};

/// The changes that a plan means, without making any.
[[nodiscard]] std::vector<Change> changes_of(const Plan& plan);

/// Puts a plan's parts at the end of another.
void add_plan(Plan& all, Plan plan);

/// Carries out a plan that adds our word. Before the first change the ledger is written; after a
/// failed step the earlier ones are undone and the ledger is as before. Killed anywhere, each file
/// is the old or the new one, and the next run goes on from there.
/// Errors: conflict where a file of ours was changed by somebody else since (unless `force`);
/// those of writing.
[[nodiscard]] Result<Applied> apply(const System& system, const Plan& plan,
                                    const std::vector<std::string>& boot_loaders, bool force);

/// Carries out a plan that takes our word away, then gives directories and artefacts that are as
/// we left them their old times, and removes the ledger. What the ledger names goes all the same
/// where the boot loader that it was for is gone.
[[nodiscard]] Result<Applied> apply_revert(const System& system, const Plan& plan);

}  // namespace peerpath::boot
