// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/facts.hpp"
#include "check/finding.hpp"
#include "check/running.hpp"

#include <optional>
#include <string>
#include <vector>

namespace peerpath::check {

/// Why something that was asked for isn't so, as far as the facts tell.
struct Why {
  std::string cause;
  std::string remedy;
  std::vector<Evidence> evidence = {};  ///< for the cause
};

/// The request is in force on the command line, and a device is translated all the same: the
/// causes that there is evidence for, or else those that nothing rules out, each with what couldn't
/// be read. `judgement` must have been decided by a word.
[[nodiscard]] Why why_overruled(const Facts& facts, const cmdline::Judgement& judgement);

/// The boot loader's configuration asks for passthrough, the running kernel's command line
/// doesn't. Nothing where that isn't so.
[[nodiscard]] std::optional<Why> why_not_booted(const Facts& facts,
                                                const cmdline::Judgement& judgement);

/// Nothing is translated, whatever is asked for: the firmware or the kernel's own default has the
/// IOMMU off. Nothing where neither is so.
[[nodiscard]] std::optional<Evidence> why_idle(const Facts& facts);

/// The kernel's default is passthrough, but memory encryption takes it away where no word asks.
/// Nothing where there's no evidence of it.
/// Fact: drivers/iommu/iommu.c iommu_subsys_init, CC_ATTR_MEM_ENCRYPT.
[[nodiscard]] std::optional<Evidence> encryption_evidence(const Facts& facts);

/// Firmware describes an Intel IOMMU, but this kernel only uses one that it's told to use, and
/// `iommu=pt` doesn't tell it to. Fact: drivers/iommu/intel/iommu.c dmar_disabled,
/// CONFIG_INTEL_IOMMU_DEFAULT_ON.
[[nodiscard]] bool is_intel_off_by_default(const Facts& facts);
[[nodiscard]] Evidence intel_default_evidence(const Facts& facts);

}  // namespace peerpath::check
