// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

namespace peerpath::boot {

/// Garden Linux, whose update-kernel-cmdline makes /etc/kernel/cmdline of shell files that assign
/// CMDLINE_LINUX: an edit of the file itself would be lost. One file of our own adds the word.
/// Fact: gardenlinux features/_usi/file.include/usr/local/sbin/update-kernel-cmdline, which
/// sources `*-*.cfg` under `set -eu` and touches nothing else.
class GardenLinux : public BootLoader {
 public:
  static constexpr std::string_view settings_directory = "/etc/kernel/cmdline.d";
  static constexpr std::string_view settings_path = "/etc/kernel/cmdline.d/99-peerpath.cfg";

  [[nodiscard]] std::string_view name() const override { return "garden-linux"; }
  [[nodiscard]] bool detect(const System& system) const override;
  [[nodiscard]] bool rules_alone() const override { return true; }
  [[nodiscard]] Result<Inspection> inspect(const System& system) const override;
  [[nodiscard]] Result<Plan> plan(const System& system, const Request& request) const override;
  [[nodiscard]] Result<Plan> plan_revert(const System& system) const override;
};

}  // namespace peerpath::boot
