// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/iommu_groups.hpp"

#include "probe/pci_attribute.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::probe {
namespace {

/// A member that's no PCI function, as on a platform bus, has a driver but no class.
Result<GroupMember> read_member(const System& system, const std::string& path,
                                const std::string& name) {
  GroupMember member{.bdf = name, .class_code = 0, .driver = ""};
  if (is_pci_address(name)) {
    const auto class_code = read_pci_id(system, path + "/class", 6);
    if (!class_code) return fail(class_code.error());
    member.class_code = *class_code;
  }
  const auto driver = read_link_name(system, path + "/driver");
  if (!driver) return fail(driver.error());
  member.driver = driver->value_or("");
  return member;
}

Result<std::vector<GroupMember>> read_members(const System& system, const std::string& number) {
  const auto directory = fmt::format("/sys/kernel/iommu_groups/{}/devices", number);
  const auto names = system.list(directory);
  if (!names) return fail(names.error());
  std::vector<GroupMember> members;
  for (const auto& name : *names) {
    auto member = read_member(system, fmt::format("{}/{}", directory, name), name);
    if (!member) return fail(member.error());
    members.push_back(std::move(*member));
  }
  return members;
}

}  // namespace

std::vector<IommuGroup> read_iommu_groups(const System& system,
                                          const std::vector<std::string>& numbers) {
  std::vector<IommuGroup> groups;
  for (const auto& number : numbers) {
    const auto is_it = [&](const IommuGroup& group) { return group.number == number; };
    if (std::any_of(groups.begin(), groups.end(), is_it)) continue;
    groups.push_back({number, read_members(system, number)});
  }
  return groups;
}

}  // namespace peerpath::probe
