// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

namespace peerpath::boot {

/// Systems that ostree deploys, bootc's among them. The entries belong to deployments: ostree
/// writes them, and carries the command line over to the next one. On the booted system its tools
/// are asked to add the word, bootc as a source of its own where it can; in a container build or
/// an image nothing is run, and the file in bootc's kargs.d does it.
/// Facts: bootc crates/lib/src/bootc_kargs.rs and loader_entries.rs; rpm-ostree(1), `kargs`.
class Ostree : public BootLoader {
 public:
  /// Comes with the package. bootc applies what differs between the old image's files and the
  /// new one's; rpm-ostree alone doesn't read them.
  static constexpr std::string_view kargs_path = "/usr/lib/bootc/kargs.d/50-peerpath.toml";

  [[nodiscard]] std::string_view name() const override { return "ostree"; }
  [[nodiscard]] bool detect(const System& system) const override;
  [[nodiscard]] bool rules_alone() const override { return true; }
  [[nodiscard]] Result<Inspection> inspect(const System& system) const override;
  [[nodiscard]] Result<Plan> plan(const System& system, const Request& request) const override;
  [[nodiscard]] Result<Plan> plan_revert(const System& system) const override;
};

}  // namespace peerpath::boot
