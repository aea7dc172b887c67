// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

namespace peerpath::boot {

/// openSUSE with sdbootutil, which writes the boot loader entries of every snapshot, for
/// systemd-boot or for GRUB, and the TPM's predictions with them: entries that were changed behind
/// its back would break the unlocking of the disk. A file of our own in /etc/kernel/cmdline.d gives
/// the word where the installed version reads that directory, else /etc/kernel/cmdline does.
/// Fact: openSUSE/sdbootutil, create_boot_options: /etc/kernel/cmdline, /usr/lib/kernel/cmdline or
/// /proc/cmdline, whichever comes first; newer ones add each line in /etc/kernel/cmdline.d.
class Sdbootutil : public BootLoader {
 public:
  static constexpr std::string_view program_path = "/usr/bin/sdbootutil";
  static constexpr std::string_view settings_directory = "/etc/kernel/cmdline.d";
  /// Raw words: a comment would go to the kernel.
  static constexpr std::string_view settings_path = "/etc/kernel/cmdline.d/90-peerpath.conf";

  [[nodiscard]] std::string_view name() const override { return "sdbootutil"; }
  [[nodiscard]] bool detect(const System& system) const override;
  [[nodiscard]] bool rules_alone() const override { return true; }
  [[nodiscard]] Result<Inspection> inspect(const System& system) const override;
  [[nodiscard]] Result<Plan> plan(const System& system, const Request& request) const override;
  [[nodiscard]] Result<Plan> plan_revert(const System& system) const override;
};

}  // namespace peerpath::boot
