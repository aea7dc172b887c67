// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/devices.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::check {
namespace {

std::string join_or_none(const std::vector<std::string>& names) {
  return names.empty() ? "none" : join(names, ", ");
}

bool is_bad(const probe::PciDevice& device) {
  const auto translation = translation_of(device);
  return translation == Translation::translated || translation == Translation::unusable;
}

}  // namespace

Translation translation_of(const probe::PciDevice& device) {
  if (!device.group_type) return Translation::unknown;
  if (!device.group) return Translation::no_iommu;
  const auto& type = *device.group_type;
  if (type == "identity") return Translation::identity;
  if (type == "DMA" || type == "DMA-FQ") return Translation::translated;
  if (type == "unknown") return Translation::unknown;
  return Translation::unusable;
}

Overall overall(const Facts& facts) {
  if (!facts.devices) return Overall::unknown;
  const auto& devices = *facts.devices;
  if (devices.empty()) return Overall::none;
  if (std::any_of(devices.begin(), devices.end(), is_bad)) return Overall::translated;
  const auto is_unknown = [](const probe::PciDevice& device) {
    return translation_of(device) == Translation::unknown;
  };
  if (std::any_of(devices.begin(), devices.end(), is_unknown)) return Overall::unknown;
  return Overall::untranslated;
}

bool has_no_iommu(const Facts& facts) {
  if (!facts.devices || facts.devices->empty()) return false;
  return std::all_of(facts.devices->begin(), facts.devices->end(), [](const auto& device) {
    return translation_of(device) == Translation::no_iommu;
  });
}

std::vector<Evidence> translated_devices(const Facts& facts) {
  std::vector<Evidence> evidence;
  if (!facts.devices) return evidence;
  for (const auto& device : *facts.devices) {
    if (is_bad(device)) evidence.push_back(group_evidence(device));
  }
  return evidence;
}

Evidence group_evidence(const probe::PciDevice& device) {
  const auto group = fmt::format("/sys/bus/pci/devices/{}/iommu_group", device.bdf);
  const std::string expected = "identity, or no group";
  if (!device.group_type) return {group + "/type", device.group_type.error().text(), expected};
  if (!device.group) return {group, "no group", expected};
  const auto& type = *device.group_type;
  return {group + "/type", type.empty() ? "(empty)" : type, expected};
}

Finding no_devices(std::string id, const Facts& facts) {
  return {.id = std::move(id),
          .status = Status::not_applicable,
          .evidence = {{"/sys/bus/pci/devices", "no device matches", facts.match_list}},
          .cause = "this machine has no device that is to be checked"};
}

Finding unlisted(std::string id, const Error& error) {
  return {.id = std::move(id),
          .status = Status::unknown,
          .evidence = {{"/sys/bus/pci/devices", error.text(), "the devices to be checked"}},
          .cause = "the PCI devices can't be read: " + error.text(),
          .remedy = "mend what can't be read, then run 'peerpath verify' again"};
}

Evidence unit_evidence(const Facts& facts) {
  const auto& units = facts.iommu.units;
  return {"/sys/class/iommu", units ? printable(join_or_none(*units)) : units.error().text(), ""};
}

Evidence table_evidence(const Facts& facts) {
  return {"/sys/firmware/acpi/tables",
          "tables of an IOMMU: " + join_or_none(facts.iommu.firmware_tables), ""};
}

}  // namespace peerpath::check
