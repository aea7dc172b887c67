// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/iommu_groups.hpp"

#include "probe/machines.hpp"

namespace peerpath::probe {

using test::TempRoot;

namespace {

void add_member(TempRoot& root, const std::string& group, const std::string& bdf,
                const std::string& class_code, const std::string& driver) {
  const auto device = "/sys/devices/pci0000:00/" + bdf;
  root.file(device + "/class", class_code + "\n");
  if (!driver.empty()) root.link(device + "/driver", "../../../bus/pci/drivers/" + driver);
  root.link("/sys/kernel/iommu_groups/" + group + "/devices/" + bdf,
            "../../../../devices/pci0000:00/" + bdf);
}

}  // namespace

TEST_CASE("read_iommu_groups: a GPU with its audio function → both, with class and driver") {
  TempRoot root;
  add_member(root, "12", "0000:3b:00.0", "0x030000", "nvidia");
  add_member(root, "12", "0000:3b:00.1", "0x040300", "");
  add_member(root, "13", "0000:5e:00.0", "0x030000", "nvidia");
  const auto groups = read_iommu_groups(root.system(), {"12", "13", "12"});
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].number == "12");
  const auto& members = groups[0].members.value();
  REQUIRE(members.size() == 2);
  CHECK(members[0].bdf == "0000:3b:00.0");
  CHECK(members[0].driver == "nvidia");
  CHECK(members[1].class_code == 0x040300);
  CHECK(members[1].driver.empty());
}

TEST_CASE("read_iommu_groups: a member that's no PCI function → listed with its driver") {
  TempRoot root;
  root.file("/sys/devices/platform/serial/uevent", "");
  root.link("/sys/kernel/iommu_groups/3/devices/serial", "../../../../devices/platform/serial");
  const auto groups = read_iommu_groups(root.system(), {"3"});
  REQUIRE(groups[0].members.value().size() == 1);
  CHECK(groups[0].members->front().class_code == 0);
}

TEST_CASE("read_iommu_groups: a group or a member that can't be read → an error that names it") {
  TempRoot root;
  add_member(root, "12", "0000:3b:00.0", "0x03z000", "nvidia");
  const auto groups = read_iommu_groups(root.system(), {"12", "99"});
  REQUIRE(groups.size() == 2);
  REQUIRE_FALSE(groups[0].members.has_value());
  CHECK(groups[0].members.error().text().find("0000:3b:00.0/class'") != std::string::npos);
  REQUIRE_FALSE(groups[1].members.has_value());
  CHECK(groups[1].members.error().code == Errc::not_found);
}

}  // namespace peerpath::probe
