// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/facts.hpp"
#include "check/finding.hpp"

#include <optional>
#include <string>
#include <vector>

namespace peerpath::check {

/// What the kernel does with a device's addresses.
enum class Translation {
  no_iommu,    ///< no group: nothing translates them
  identity,    ///< the group's default domain passes them through
  translated,  ///< DMA or DMA-FQ
  unusable,    ///< a type that the host's drivers can't use: blocked, unmanaged or none of these
  unknown,     ///< the kernel doesn't say
};

/// The verdict rule for one device. Fact: drivers/iommu/iommu.c iommu_group_show_type.
[[nodiscard]] Translation translation_of(const probe::PciDevice& device);

/// The devices to be checked, taken together.
enum class Overall {
  none,          ///< there are no such devices
  untranslated,  ///< all of them are
  translated,    ///< at least one is translated, or unusable
  unknown,       ///< at least one can't be told, and none is known to be translated
};
[[nodiscard]] Overall overall(const Facts& facts);

/// Whether there are such devices and none is in an IOMMU group.
[[nodiscard]] bool has_no_iommu(const Facts& facts);

/// Of the devices that are translated or unusable: where that's written.
[[nodiscard]] std::vector<Evidence> translated_devices(const Facts& facts);

/// What was read of a device's group.
[[nodiscard]] Evidence group_evidence(const probe::PciDevice& device);

/// The finding of a check that has nothing to look at, where no device matches the list.
[[nodiscard]] Finding no_devices(std::string id, const Facts& facts);

/// The finding of a check that needs what the error kept from being read: the devices, or where
/// they are.
[[nodiscard]] Finding unlisted(std::string id, const Error& error);

/// "dmar0, dmar1", "none", or why that can't be told.
[[nodiscard]] Evidence unit_evidence(const Facts& facts);
/// "DMAR", or "none".
[[nodiscard]] Evidence table_evidence(const Facts& facts);

}  // namespace peerpath::check
