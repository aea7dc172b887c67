// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

namespace peerpath::boot {

/// GRUB whose grub-mkconfig reads /etc/default/grub.d: Debian, Ubuntu and what's made from them.
/// One settings file of our own adds the word; grub.cfg is generated anew where that works.
class GrubDropin : public BootLoader {
 public:
  /// After every name of digits and letters that a provider may have chosen: the settings files
  /// are read in alphabetical order and the last assignment wins (bencherdev/bencher#955).
  static constexpr std::string_view dropin_path = "/etc/default/grub.d/zz-peerpath.cfg";

  [[nodiscard]] std::string_view name() const override { return "grub"; }
  [[nodiscard]] bool detect(const System& system) const override;
  [[nodiscard]] Result<Inspection> inspect(const System& system) const override;
  [[nodiscard]] Result<Inspection> inspect_artefact(const System& system, const std::string& path,
                                                    const std::string& content) const override;
  [[nodiscard]] Result<Plan> plan(const System& system, const Request& request) const override;
  [[nodiscard]] Result<Plan> plan_revert(const System& system) const override;
};

}  // namespace peerpath::boot
