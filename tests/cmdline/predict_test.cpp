// SPDX-License-Identifier: GPL-2.0-or-later
// What truth_table_test.cpp doesn't reach.
#include "cmdline/predict.hpp"

#include "support/catch.hpp"

using namespace peerpath::cmdline;

namespace {

GroupType type_of(std::string_view line, Arch arch, const Platform& platform) {
  return predict(judge(line, arch, platform.version), platform).type;
}

}  // namespace

TEST_CASE("predict: iommu.strict → decides between DMA and DMA-FQ, over the build's choice") {
  const Platform lazy{IommuKind::amd, DefaultDomain::lazy, false, std::nullopt};
  const Platform strict{IommuKind::amd, DefaultDomain::strict, false, std::nullopt};
  CHECK(type_of("iommu.strict=1", Arch::x86_64, lazy) == GroupType::dma);
  CHECK(type_of("iommu.strict=0", Arch::x86_64, strict) == GroupType::dma_fq);
  CHECK(type_of("iommu.strict=0 iommu.strict=1", Arch::x86_64, lazy) == GroupType::dma);
  CHECK(type_of("iommu.strict=x", Arch::x86_64, strict) == GroupType::dma);
}

TEST_CASE("predict: iommu=off → no group with either vendor, the line as without it") {
  const auto kind = GENERATE(IommuKind::intel, IommuKind::amd);
  const Platform platform{kind, DefaultDomain::lazy, true, std::nullopt};
  const auto prediction = predict(judge("iommu=off", Arch::x86_64), platform);
  CHECK(prediction.type == GroupType::none);
  CHECK(prediction.line == DefaultLine{false, false});
}

TEST_CASE("predict: the other vendor's off → changes nothing") {
  const Platform intel{IommuKind::intel, DefaultDomain::lazy, true, std::nullopt};
  const Platform amd{IommuKind::amd, DefaultDomain::lazy, false, std::nullopt};
  CHECK(type_of("amd_iommu=off", Arch::x86_64, intel) == GroupType::dma_fq);
  CHECK(type_of("intel_iommu=off", Arch::x86_64, amd) == GroupType::dma_fq);
}

TEST_CASE("predict: the vendor's own off → no group, even where the judge wasn't told the vendor") {
  const Platform intel{IommuKind::intel, DefaultDomain::lazy, true, std::nullopt};
  const Platform amd{IommuKind::amd, DefaultDomain::lazy, false, std::nullopt};
  CHECK(type_of("intel_iommu=off", Arch::x86_64, intel) == GroupType::none);
  CHECK(type_of("amd_iommu=off", Arch::x86_64, amd) == GroupType::none);
}

TEST_CASE("predict: Intel before 5.4 → unknown type and no line, whatever the words") {
  const Platform old{IommuKind::intel, DefaultDomain::lazy, true, KernelVersion{4, 19}};
  const auto prediction = predict(judge("iommu=nopt", Arch::x86_64, old.version), old);
  CHECK(prediction.type == GroupType::unknown);
  CHECK_FALSE(prediction.line.has_value());
}

TEST_CASE("name_of: group type → as the kernel writes it") {
  CHECK(name_of(GroupType::none) == "none");
  CHECK(name_of(GroupType::identity) == "identity");
  CHECK(name_of(GroupType::dma) == "DMA");
  CHECK(name_of(GroupType::dma_fq) == "DMA-FQ");
  CHECK(name_of(GroupType::unknown) == "unknown");
}
