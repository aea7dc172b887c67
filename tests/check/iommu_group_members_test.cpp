// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/sample.hpp"

namespace peerpath::check {

using namespace test;
using probe::GroupMember;

namespace {

constexpr auto bdf = "0000:3b:00.0";

Facts with_members(std::vector<GroupMember> members, const std::string& driver = "nvidia") {
  auto device = gpu("identity", bdf);
  device.driver = driver;
  auto facts = host("iommu=pt", {device});
  members.insert(members.begin(), {bdf, 0x030200, driver});
  facts.groups = {{"12", members}};
  return facts;
}

}  // namespace

TEST_CASE("iommu.group-members: alone, or with audio, bridges and drivers of this host → ok") {
  CHECK(run_one(iommu_group_members, with_members({})).status == Status::ok);
  const auto finding =
      run_one(iommu_group_members, with_members({{"0000:3b:00.1", 0x040300, "snd_hda_intel"},
                                                 {"0000:3a:00.0", 0x060400, "pcieport"}}));
  CHECK(finding.status == Status::ok);
  CHECK(has_evidence(finding, "0000:3b:00.1 (class 040300, snd_hda_intel)"));
}

TEST_CASE("iommu.group-members: vfio-pci has all of them, bridges aside → ok") {
  const auto facts = with_members({{"0000:3b:00.1", 0x040300, "vfio-pci"},
                                   {"0000:3a:00.0", 0x060400, "pcieport"},
                                   {"0000:3b:00.2", 0x0c0330, ""}},
                                  "vfio-pci");
  CHECK(run_one(iommu_group_members, facts).status == Status::ok);
}

TEST_CASE("iommu.group-members: vfio-pci has some of them → warn") {
  const auto foreign = with_members({{"0000:3b:00.1", 0x040300, "vfio-pci"}});
  CHECK(run_one(iommu_group_members, foreign).status == Status::warn);
  const auto unbound = with_members({{"0000:3b:00.1", 0x040300, "vfio-pci"}}, "");
  CHECK(run_one(iommu_group_members, unbound).status == Status::warn);
  const auto mixed = with_members({{"0000:3b:00.1", 0x040300, "snd_hda_intel"}}, "vfio-pci");
  const auto finding = run_one(iommu_group_members, mixed);
  CHECK(finding.status == Status::warn);
  CHECK(finding.device == bdf);
}

TEST_CASE("iommu.group-members: two devices in one group → one finding") {
  auto facts = with_members({{"0000:5e:00.0", 0x030200, "nvidia"}});
  facts.devices->push_back(gpu("identity", "0000:5e:00.0"));
  CHECK(run_one(iommu_group_members, facts).status == Status::ok);
}

TEST_CASE("iommu.group-members: members that can't be read → unknown") {
  auto facts = with_members({});
  facts.groups[0].members = fail(Errc::denied, "'…/devices': permission denied");
  CHECK(run_one(iommu_group_members, facts).status == Status::unknown);
  facts.groups[0].members = std::vector<GroupMember>{};
  CHECK(run_one(iommu_group_members, facts).status == Status::unknown);
  facts.groups.clear();
  CHECK(run_one(iommu_group_members, facts).status == Status::unknown);
  facts.devices->front().group.reset();
  facts.devices->front().group_type = fail(Errc::denied, "permission denied");
  CHECK(run_one(iommu_group_members, facts).status == Status::unknown);
  facts.devices = fail(Errc::denied, "permission denied");
  CHECK(run_one(iommu_group_members, facts).status == Status::unknown);
}

TEST_CASE("iommu.group-members: no group, or no device → not applicable") {
  const auto facts = host_without_iommu("");
  CHECK(run_one(iommu_group_members, facts).status == Status::not_applicable);
  CHECK(run_one(iommu_group_members, host("", {})).status == Status::not_applicable);
}

}  // namespace peerpath::check
