// SPDX-License-Identifier: GPL-2.0-or-later
// What the boot loader entries of type 1 come to: for each boot loader whose artefacts they are.
#pragma once

#include "boot/bls_entry.hpp"
#include "boot/bls_files.hpp"
#include "boot/types.hpp"

#include <optional>
#include <string>
#include <vector>

namespace peerpath::boot {

/// Why an entry is left as it is, where it is. A rescue entry is what's left when a word breaks
/// the boot, and boom keeps its entries itself.
[[nodiscard]] std::optional<std::string> left_alone(const BlsFile& file, const BlsEntry& entry);

/// Every command line that the readers may hand to the kernel for this entry; none where that can't
/// be known.
[[nodiscard]] std::vector<std::string> bls_command_lines(const BlsEntry& entry,
                                                         const BlsReaders& readers);

/// An entry file, and what's to be known of it.
struct FoundBlsEntry {
  BlsFile file;
  JudgedEntry judged;
};

struct BlsEntries {
  std::vector<FoundBlsEntry> found;
  std::vector<BlsFile> others;  ///< left as they are, for a reason that's in the texts below
  std::vector<std::string> notes;
  std::vector<std::string> unfollowed;
  BlsReaders readers;
};

/// Every entry file of the boot partitions. Errors: those of reading.
[[nodiscard]] Result<BlsEntries> read_bls_entries(const System& system, cmdline::Arch arch);

/// The entries as a boot loader's `inspect` gives them, with those that GRUB's menu has besides.
[[nodiscard]] Result<Inspection> inspect_bls(const System& system);

/// The same with the unified kernel images on the boot partitions.
[[nodiscard]] Result<Inspection> inspect_boot_partitions(const System& system);

/// Whether all that boots this root is passthrough or off; nothing where there's no such entry.
[[nodiscard]] std::optional<bool> boots_untranslated(const Inspection& inspection,
                                                     cmdline::Arch arch);

/// The first contrary word of the administrator's among the entries.
[[nodiscard]] std::optional<Conflict> conflict_in(const Inspection& inspection, cmdline::Arch arch);

/// The administrator's word against passthrough, in any of the command lines that an entry of this
/// root may have.
[[nodiscard]] std::optional<Conflict> conflict_in(const Entry& entry, cmdline::Arch arch);

}  // namespace peerpath::boot
