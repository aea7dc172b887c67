// SPDX-License-Identifier: GPL-2.0-or-later
// /etc/kernel/cmdline, from which kernel-install makes the entries and images of new kernels.
#pragma once

#include "boot/ledger.hpp"
#include "boot/types.hpp"

#include <optional>
#include <string_view>

namespace peerpath::boot {

inline constexpr std::string_view kernel_cmdline_path = "/etc/kernel/cmdline";

/// Who reads the file: kernel-install's plugins join all lines, proxmox-boot-tool takes the first.
enum class CmdlineReader { kernel_install, proxmox };

/// Adds our word to the plan where the file exists and doesn't make for passthrough yet. The file
/// is never created: where it isn't there, kernel-install takes the command line of the running
/// kernel, and a file with our word alone would yield kernels without `root=`. Its time is kept,
/// since grub2's 20-grub.install and 10_linux compare it with that of /etc/default/grub.
/// A contrary word in it is the plan's conflict, unless `force`.
/// The word goes on the last line that has words and that the reader takes.
/// Errors: unsupported, with the line, where the word wouldn't work in it.
/// Facts: systemd src/kernel-install/90-loaderentry.install (`tr -s "$IFS" ' '`); rhboot/grub2
/// util/grub.d/10_linux.in.
[[nodiscard]] Result<> add_kernel_cmdline(const System& system, const Request& request, Plan& plan,
                                          CmdlineReader reader = CmdlineReader::kernel_install);

/// Takes our word out again.
[[nodiscard]] Result<> take_kernel_cmdline(const System& system, const Ledger& ledger, Plan& plan);

}  // namespace peerpath::boot
