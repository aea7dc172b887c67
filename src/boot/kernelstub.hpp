// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

namespace peerpath::boot {

/// Pop!_OS' kernelstub, which copies kernels to the ESP and writes their entries there from its
/// own configuration: an edit of the entries would be lost at the next kernel (pop-os/pop#680).
/// Its `--delete-options` puts all options in another order, so that the list is edited here, and
/// the tool is run without any option.
/// Fact: pop-os/kernelstub kernelstub/application.py; it writes its configuration anew each time.
class Kernelstub : public BootLoader {
 public:
  static constexpr std::string_view settings_path = "/etc/kernelstub/configuration";

  [[nodiscard]] std::string_view name() const override { return "kernelstub"; }
  [[nodiscard]] bool detect(const System& system) const override;
  [[nodiscard]] bool rules_alone() const override { return true; }
  [[nodiscard]] Result<Inspection> inspect(const System& system) const override;
  [[nodiscard]] Result<Plan> plan(const System& system, const Request& request) const override;
  [[nodiscard]] Result<Plan> plan_revert(const System& system) const override;
};

}  // namespace peerpath::boot
