// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/grub_script.hpp"
#include "boot/types.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace peerpath::boot {

/// Where Debian and its descendants keep GRUB's configuration.
inline constexpr std::string_view grub_config_path = "/boot/grub/grub.cfg";

/// What a grub.cfg holds, with what a boot loader entry may need of it.
struct GrubConfig : Inspection {
  GrubVariables variables;         ///< of the file and of the environment block
  bool takes_bls_entries = false;  ///< it has the command `blscfg`
  bool is_menu = false;            ///< it has menu entries of its own

  /// It only leads to another configuration file, as the one on the ESP does.
  [[nodiscard]] bool is_stub() const {
    return !unfollowed.empty() && entries.empty() && !takes_bls_entries && !is_menu;
  }
};

/// GRUB's configuration files in this root, each once, by its resolved path; those that only lead
/// to another one are left out.
/// Fact: the stub on the ESP must never be written (goldyfruit/puppet-grub2#79); on RHEL 8 with
/// UEFI the real file is on the ESP (rhinstaller/anaconda#3151).
[[nodiscard]] std::vector<std::string> find_grub_configs(const System& system);

/// The Linux entries of a grub.cfg, of the custom.cfg beside it, with the variables of grubenv.
/// Memory tests, other systems and hypervisors are named in the notes, not returned.
/// What can't be followed, such as another configuration file, is in `unfollowed`.
/// `missing` is set where there's no such file. Errors: those of reading; malformed with the line.
[[nodiscard]] Result<GrubConfig> read_grub_config(const System& system,
                                                  std::string_view path = grub_config_path);

/// The same for a text that isn't in that file yet.
[[nodiscard]] Result<GrubConfig> parse_grub_config(const System& system, const std::string& file,
                                                   const std::string& text);

/// Whether GRUB boots Xen, with Linux as its dom0.
[[nodiscard]] Result<bool> boots_xen(const System& system, std::string_view path);

/// The command line in the form that the kernel gets, for a value out of GRUB's settings: the
/// generator writes it into grub.cfg as it is, and GRUB reads it as words there.
/// Errors: malformed where GRUB couldn't read it.
[[nodiscard]] Result<std::string> through_grub(std::string_view value);

}  // namespace peerpath::boot
