// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "cmdline/judge.hpp"

#include <optional>
#include <string_view>

namespace peerpath::cmdline {

/// What translates for the device; none where there is no IOMMU or the firmware has it off.
enum class IommuKind { none, intel, amd, smmu };

/// The build configuration's choice. Fact: drivers/iommu/Kconfig.
enum class DefaultDomain { lazy, strict, passthrough };

/// What, besides the command line, decides for a common device: one that's trusted, has no PASID,
/// on a machine without memory encryption and SNP, and without an opt-in for external ports.
struct Platform {
  IommuKind iommu = IommuKind::none;
  DefaultDomain default_domain = DefaultDomain::lazy;
  bool intel_default_on = false;                        ///< CONFIG_INTEL_IOMMU_DEFAULT_ON
  std::optional<KernelVersion> version = std::nullopt;  ///< nothing means a current kernel
};

/// The kernel's line "iommu: Default domain type: ...". It's printed with or without an IOMMU.
/// Fact: drivers/iommu/iommu.c iommu_subsys_init.
struct DefaultLine {
  bool passthrough = false;
  bool by_command_line = false;  ///< "(set via kernel command line)"

  bool operator==(const DefaultLine&) const = default;
};

/// What the device's iommu_group/type reads.
enum class GroupType {
  none,      ///< no group at all
  identity,  ///< untranslated
  dma,       ///< translated, strict; before 5.15 any kind of translated
  dma_fq,    ///< translated, lazy. The vendors' own words and virtual IOMMUs can make it `dma`.
  unknown,   ///< the file says so, or isn't there
};
/// "none", "identity", "DMA", "DMA-FQ", "unknown".
[[nodiscard]] std::string_view name_of(GroupType type);

struct Prediction {
  std::optional<DefaultLine> line;  ///< nothing where the kernel doesn't print one: before 5.4
  GroupType type = GroupType::unknown;
};

/// What a kernel so judged does with a common device on the platform. The judgement's vendor should
/// be the platform's.
[[nodiscard]] Prediction predict(const Judgement& judgement, const Platform& platform);

}  // namespace peerpath::cmdline
