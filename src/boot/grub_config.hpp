// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

#include <string>
#include <string_view>

namespace peerpath::boot {

/// Where Debian and its descendants keep GRUB's configuration.
inline constexpr std::string_view grub_config_path = "/boot/grub/grub.cfg";

/// The Linux entries of a grub.cfg, of the custom.cfg beside it, with the variables of grubenv.
/// Memory tests, other systems and hypervisors are named in the notes, not returned.
/// What can't be followed, such as another configuration file, is in `unfollowed`.
/// `missing` is set where there's no such file. Errors: those of reading; malformed with the line.
[[nodiscard]] Result<Inspection> read_grub_config(const System& system,
                                                  std::string_view path = grub_config_path);

/// The same for a text that isn't in that file yet.
[[nodiscard]] Result<Inspection> parse_grub_config(const System& system, const std::string& file,
                                                   const std::string& text);

/// Whether GRUB boots Xen, with Linux as its dom0.
[[nodiscard]] Result<bool> boots_xen(const System& system,
                                     std::string_view path = grub_config_path);

/// The command line in the form that the kernel gets, for a value out of GRUB's settings: the
/// generator writes it into grub.cfg as it is, and GRUB reads it as words there.
/// Errors: malformed where GRUB couldn't read it.
[[nodiscard]] Result<std::string> through_grub(std::string_view value);

}  // namespace peerpath::boot
