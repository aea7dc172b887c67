// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

namespace peerpath::boot {

/// GRUB whose grub-mkconfig reads /etc/default/grub alone, and whose grub.cfg has the entries
/// itself: SUSE's classic one, RHEL 7's, Arch's. A marked block at the end of /etc/default/grub
/// adds the word: the last assignment counts, so that nobody else's line need be understood.
/// grub.cfg is generated anew where that works; one that only leads to another, as on the ESP, is
/// never written.
class GrubBlock : public BootLoader {
 public:
  [[nodiscard]] std::string_view name() const override { return "grub-settings"; }
  [[nodiscard]] bool detect(const System& system) const override;
  [[nodiscard]] Result<Inspection> inspect(const System& system) const override;
  [[nodiscard]] Result<Inspection> inspect_artefact(const System& system, const std::string& path,
                                                    const std::string& content) const override;
  [[nodiscard]] Result<Plan> plan(const System& system, const Request& request) const override;
  [[nodiscard]] Result<Plan> plan_revert(const System& system) const override;
};

}  // namespace peerpath::boot
