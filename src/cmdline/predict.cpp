// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmdline/predict.hpp"

namespace peerpath::cmdline {
namespace {

constexpr KernelVersion prints_the_line{5, 4};
constexpr KernelVersion has_lazy_type{5, 15};

bool is_translating(const Switches& switches, const Platform& platform) {
  if (switches.iommu_off) return false;  // never set on arm64
  switch (platform.iommu) {
    case IommuKind::none:
      return false;
    case IommuKind::intel:
      return switches.intel_iommu.value_or(platform.intel_default_on);
    case IommuKind::amd:
      return !switches.amd_iommu_off;
    case IommuKind::smmu:
      break;
  }
  return true;
}

GroupType translated_type(const Switches& switches, const Platform& platform,
                          KernelVersion version) {
  if (version < has_lazy_type) return GroupType::dma;
  const bool strict = switches.strict.value_or(platform.default_domain == DefaultDomain::strict);
  return strict ? GroupType::dma : GroupType::dma_fq;
}

}  // namespace

std::string_view name_of(GroupType type) {
  switch (type) {
    case GroupType::none:
      return "none";
    case GroupType::identity:
      return "identity";
    case GroupType::dma:
      return "DMA";
    case GroupType::dma_fq:
      return "DMA-FQ";
    case GroupType::unknown:
      break;
  }
  return "unknown";
}

Prediction predict(const Judgement& judgement, const Platform& platform) {
  const auto version = platform.version.value_or(current_kernel);
  const auto& switches = judgement.switches;
  const bool passthrough =
      switches.passthrough.value_or(platform.default_domain == DefaultDomain::passthrough);

  Prediction prediction;
  if (version >= prints_the_line) {
    prediction.line = DefaultLine{passthrough, switches.passthrough.has_value()};
  }
  if (!is_translating(switches, platform)) {
    prediction.type = GroupType::none;
  } else if (platform.iommu == IommuKind::intel && version < prints_the_line) {
    // The driver kept its domains to itself: no default domain, whatever it did.
    prediction.type = GroupType::unknown;
  } else if (passthrough) {
    prediction.type = GroupType::identity;
  } else {
    prediction.type = translated_type(switches, platform, version);
  }
  return prediction;
}

}  // namespace peerpath::cmdline
