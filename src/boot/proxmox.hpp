// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

namespace peerpath::boot {

/// Proxmox VE where proxmox-boot-tool keeps several ESPs: each has either GRUB, whose settings are
/// Debian's, or systemd-boot, whose entries get the first line of /etc/kernel/cmdline. Both get the
/// word, and the tool brings it to all ESPs.
/// Facts: Proxmox' src/proxmox-boot/functions and zz-proxmox-boot, which fails where that line has
/// no `root=`; ZFS systems have systemd-boot or GRUB, which the file of ESPs alone tells nothing
/// about (MacRimi/ProxMenux#15).
class Proxmox : public BootLoader {
 public:
  /// The file system UUIDs of the ESPs, a line each.
  static constexpr std::string_view esps_path = "/etc/kernel/proxmox-boot-uuids";

  [[nodiscard]] std::string_view name() const override { return "proxmox"; }
  [[nodiscard]] bool detect(const System& system) const override;
  [[nodiscard]] bool rules_alone() const override { return true; }
  [[nodiscard]] Result<Inspection> inspect(const System& system) const override;
  [[nodiscard]] Result<Plan> plan(const System& system, const Request& request) const override;
  [[nodiscard]] Result<Plan> plan_revert(const System& system) const override;
};

}  // namespace peerpath::boot
