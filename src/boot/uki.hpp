// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

namespace peerpath::boot {

/// Unified kernel images: kernel, initrd and command line in one file of the EFI system partition.
/// Those that are built here get the word through /etc/kernel/cmdline, once they're built anew.
/// Those that come from a vendor get an addon, where the administrator asks for it.
class Uki : public BootLoader {
 public:
  /// From the partition's root on: systemd-stub appends it to the command line of every image of
  /// that partition, those of future kernels too.
  static constexpr std::string_view addon_path = "/loader/addons/peerpath.addon.efi";

  [[nodiscard]] std::string_view name() const override { return "uki"; }
  [[nodiscard]] bool detect(const System& system) const override;
  [[nodiscard]] bool reads_esp(const System& /*system*/) const override { return true; }
  [[nodiscard]] Result<Inspection> inspect(const System& system) const override;
  [[nodiscard]] Result<Inspection> inspect_artefact(const System& system, const std::string& path,
                                                    const std::string& content) const override;
  [[nodiscard]] Result<Plan> plan(const System& system, const Request& request) const override;
  [[nodiscard]] Result<Plan> plan_revert(const System& system) const override;
};

}  // namespace peerpath::boot
