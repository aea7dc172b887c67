// SPDX-License-Identifier: GPL-2.0-or-later
// Who shares an IOMMU group with the devices: a group has one domain for all of its members.
#include "base/text.hpp"
#include "check/checks.hpp"
#include "check/devices.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "iommu.group-members",
    .title = "Functions that share an IOMMU group with a device",
    .message_id = "8b48d8365bd0416c9bdc987ef97fd6c4",
    .meaning =
        "Lists every function in the IOMMU group of each device, a GPU's audio function too, with "
        "the driver that has it. A group has one domain: as soon as vfio-pci has one member, the "
        "group belongs to a virtual machine, and the other members can't be used by this host. "
        "Bridges and other GPUs in the group do no harm.",
    .causes =
        "A member was given to vfio-pci, by its ids in modprobe.d or on the command line or by a "
        "virtual machine's configuration, and the others were not. Unknown: members can't be read.",
    .remedy =
        "Give all functions of the group to vfio-pci, or none: take the ids away from 'vfio-pci "
        "ids=' and 'vfio-pci.ids=', or unbind the function.",
    .since = "0.1.0",
};

using probe::GroupMember;

bool is_vfio(const std::string& driver) {
  return driver == "vfio" || driver.starts_with("vfio-") || driver.ends_with("-vfio-pci") ||
         driver.ends_with("_vfio_pci");
}

bool is_bridge(const GroupMember& member) {
  return member.class_code >> 16U == 0x06;
}

/// A driver of this host's has it; bridges don't count.
bool is_in_use_here(const GroupMember& member) {
  return !is_bridge(member) && !member.driver.empty() && !is_vfio(member.driver);
}

bool is_checked(const Facts& facts, const std::string& bdf) {
  return std::any_of(facts.devices->begin(), facts.devices->end(),
                     [&](const probe::PciDevice& device) { return device.bdf == bdf; });
}

std::string describe(const GroupMember& member) {
  return fmt::format("{} (class {:06x}, {})", printable(member.bdf), member.class_code,
                     member.driver.empty() ? "no driver" : printable(member.driver));
}

std::string source_of(const std::string& group) {
  return fmt::format("/sys/kernel/iommu_groups/{}/devices", group);
}

Finding start(const probe::PciDevice& device, Status status) {
  return {.id = std::string(record.id), .status = status, .device = device.bdf};
}

Finding untold(const probe::PciDevice& device, const std::string& source, const std::string& why) {
  auto finding = start(device, Status::unknown);
  finding.evidence = {{source, why, "the members of its group"}};
  finding.cause = "who shares its group can't be told: " + why;
  finding.remedy = "mend what can't be read, then run 'peerpath verify' again";
  return finding;
}

Finding without_group(const probe::PciDevice& device) {
  auto finding = start(device, Status::not_applicable);
  finding.evidence = {{fmt::format("/sys/bus/pci/devices/{}/iommu_group", device.bdf), "no group",
                       "the members of its group"}};
  finding.cause = "the device has no IOMMU group";
  return finding;
}

Finding judge_members(const Facts& facts, const probe::PciDevice& device, const std::string& group,
                      const std::vector<GroupMember>& members) {
  std::vector<std::string> names;
  bool foreign_vfio = false;
  for (const auto& member : members) {
    names.push_back(describe(member));
    foreign_vfio = foreign_vfio || (is_vfio(member.driver) && !is_checked(facts, member.bdf));
  }
  const auto any = [&](const auto& predicate) {
    return std::any_of(members.begin(), members.end(), predicate);
  };
  const bool vfio = any([](const GroupMember& member) { return is_vfio(member.driver); });
  const bool mixed = vfio && any(is_in_use_here);
  // A GPU that vfio-pci has may have its audio function there as well.
  const bool all_given = is_vfio(device.driver) && !mixed;
  const bool bad = mixed || (foreign_vfio && !all_given);
  auto finding = start(device, bad ? Status::warn : Status::ok);
  finding.evidence = {
      {source_of(group), join(names, ", "), "all members with vfio-pci, or none of them"}};
  if (!bad) return finding;
  finding.cause = "vfio-pci has a member of its IOMMU group, and not all of them";
  finding.remedy = "give all functions of the group to vfio-pci, or none";
  return finding;
}

Finding judge(const Facts& facts, const probe::PciDevice& device) {
  const auto link = fmt::format("/sys/bus/pci/devices/{}/iommu_group", device.bdf);
  if (!device.group) {
    if (!device.group_type) return untold(device, link, device.group_type.error().text());
    return without_group(device);
  }
  const auto& groups = facts.groups;
  const auto found =
      std::find_if(groups.begin(), groups.end(),
                   [&](const probe::IommuGroup& group) { return group.number == *device.group; });
  const auto source = source_of(*device.group);
  if (found == groups.end()) return untold(device, source, "its members were not read");
  if (!found->members) return untold(device, source, found->members.error().text());
  const auto& members = *found->members;
  const bool has_it = std::any_of(members.begin(), members.end(), [&](const GroupMember& member) {
    return member.bdf == device.bdf;
  });
  if (!has_it) return untold(device, source, "the device isn't among its group's members");
  return judge_members(facts, device, *device.group, members);
}

/// One finding for each group, about the first of its devices, and one for each without.
std::vector<Finding> run(const Facts& facts) {
  const std::string id(record.id);
  if (!facts.devices) return {unlisted(id, facts.devices.error())};
  if (facts.devices->empty()) return {no_devices(id, facts)};
  std::vector<Finding> findings;
  std::vector<std::string> seen;
  for (const auto& device : *facts.devices) {
    if (device.group) {
      if (std::find(seen.begin(), seen.end(), *device.group) != seen.end()) continue;
      seen.push_back(*device.group);
    }
    findings.push_back(judge(facts, device));
  }
  return findings;
}

}  // namespace

const Check iommu_group_members{record, run};

}  // namespace peerpath::check
