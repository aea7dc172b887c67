// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/facts.hpp"
#include "check/finding.hpp"

#include <string>
#include <vector>

namespace peerpath::check {

/// The running kernel's command line, judged.
struct Running {
  cmdline::Judgement judgement;  ///< `ignored` also holds what a bootconfig asked in vain
  cmdline::Arch arch = cmdline::Arch::other;
};

/// Whose IOMMU it is, from the units that the kernel drives or else from the firmware's tables.
[[nodiscard]] cmdline::Vendor vendor_of(const probe::IommuUnits& iommu);

/// Errors: those of reading the command line, the architecture or /proc/bootconfig.
[[nodiscard]] Result<Running> judge_running(const Facts& facts);
/// The same as if the IOMMU were that vendor's.
[[nodiscard]] Result<Running> judge_running(const Facts& facts, cmdline::Vendor vendor);

/// The finding of a check that needs the judgement and hasn't got it.
[[nodiscard]] Finding unjudged(std::string id, const Error& error);

/// Every word that asks for passthrough or off, but isn't in force.
[[nodiscard]] std::vector<cmdline::Ignored> vain_requests(const cmdline::Judgement& judgement);

/// "'iommu=pt': passthrough", or "no word decides: kernel-default".
[[nodiscard]] std::string describe(const cmdline::Judgement& judgement);

/// "'iommu=pt' isn't in force: overridden by 'iommu=nopt'".
[[nodiscard]] std::string describe(const cmdline::Ignored& ignored);

/// How to ask for passthrough, and reboot.
[[nodiscard]] std::string how_to_ask(cmdline::Arch arch);

/// Whether the kernel's default is known to be passthrough.
[[nodiscard]] bool default_is_passthrough(const Facts& facts);

/// What the build configuration says of the default domain.
[[nodiscard]] Evidence default_evidence(const Facts& facts);
/// The same in one phrase; only where there is a build configuration.
[[nodiscard]] std::string describe_default(const Facts& facts);

}  // namespace peerpath::check
