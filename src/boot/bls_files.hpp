// SPDX-License-Identifier: GPL-2.0-or-later
// Where boot loader entries are, and who reads them.
#pragma once

#include "boot/grub_config.hpp"
#include "boot/types.hpp"

#include <string>
#include <vector>

namespace peerpath::boot {

/// Where the boot partitions are mounted by convention: the extended boot partition or plain
/// /boot, and the ESP.
/// Fact: systemd's bootctl(1), --esp-path= and --boot-path=.
[[nodiscard]] std::vector<std::string> boot_partitions(const System& system);

/// An entry file with what it says.
struct BlsFile {
  std::string path;
  std::string partition;  ///< where its file system is mounted: paths in it begin there
  std::string text;
  FileInfo info = {};
};

/// The entry files, each once however many names and links lead to it, in order of their names.
/// Errors: those of reading.
[[nodiscard]] Result<std::vector<BlsFile>> read_bls_files(const System& system);

/// Whether there's any; one that can't be listed counts.
[[nodiscard]] bool has_bls_files(const System& system);

/// Who reads the entries of this system.
struct BlsReaders {
  bool grub = false;
  bool systemd_boot = false;
  bool no_menu = false;          ///< GRUB is installed, and its configuration isn't there yet
  GrubVariables variables = {};  ///< GRUB puts these into the options
};

/// GRUB where its configuration has `blscfg`, or isn't there yet; systemd-boot where its program is
/// on a boot partition, or GRUB isn't the one.
[[nodiscard]] Result<BlsReaders> find_bls_readers(const System& system);

}  // namespace peerpath::boot
