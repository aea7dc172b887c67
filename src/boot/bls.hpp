// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

namespace peerpath::boot {

/// Boot loader entries of type 1, in `loader/entries` of the boot partitions: read by
/// systemd-boot, and by the GRUB of Fedora and its kin where grub.cfg has `blscfg`. The word is
/// put into the entries themselves, which needs no generator and works in any chroot; the
/// kernel-install plugin and, under GRUB, a script in /etc/grub.d see to later kernels and to
/// later runs of grub2-mkconfig. Neither /etc/default/grub nor grubenv is touched, and nothing is
/// generated.
class Bls : public BootLoader {
 public:
  /// Run last by grub2-mkconfig, whose 10_linux may have written every entry's options anew.
  static constexpr std::string_view healing_path = "/etc/grub.d/99_peerpath";

  [[nodiscard]] std::string_view name() const override { return "bls"; }
  [[nodiscard]] bool detect(const System& system) const override;
  [[nodiscard]] bool reads_esp(const System& system) const override;
  [[nodiscard]] Result<Inspection> inspect(const System& system) const override;
  [[nodiscard]] Result<Plan> plan(const System& system, const Request& request) const override;
  [[nodiscard]] Result<Plan> plan_revert(const System& system) const override;
};

}  // namespace peerpath::boot
