// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/pci.hpp"

#include "probe/machines.hpp"

#include <string>
#include <unistd.h>
#include <vector>

namespace peerpath::probe {
namespace {

using test::add_gpu;
using test::machine;
using test::TempRoot;

const std::string gpu = "0000:3b:00.0";
const std::string in_bus = "/sys/bus/pci/devices/" + gpu;
const std::string in_devices = "/sys/devices/pci0000:00/" + gpu;

std::vector<PciMatch> nvidia() {
  return {*parse_pci_match("10de:*:0300"), *parse_pci_match("10de:*:0302")};
}

std::vector<PciDevice> find(const System& system) {
  auto devices = find_pci_devices(system, nvidia());
  if (!devices) FAIL(devices.error().text());
  return std::move(*devices);
}

/// The one device of the root, which must have an error that names the file.
void check_unknown(TempRoot& root, const std::string& file, Errc code) {
  const auto devices = find(root.system());
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].bdf == gpu);
  REQUIRE_FALSE(devices[0].group_type.has_value());
  INFO(devices[0].group_type.error().text());
  CHECK(devices[0].group_type.error().code == code);
  CHECK(devices[0].group_type.error().text().find("'" + root.path() + file + "'") !=
        std::string::npos);
}

}  // namespace

TEST_CASE("find_pci_devices: Intel host with two GPUs → both, without audio, bridges and NIC") {
  const auto devices = find(*machine("intel-identity"));
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].bdf == "0000:3b:00.0");
  CHECK(devices[0].vendor == 0x10de);
  CHECK(devices[0].device == 0x2684);
  CHECK(devices[0].class_code == 0x030000);
  CHECK(devices[0].driver == "nvidia");
  CHECK(devices[0].group == "12");
  CHECK(devices[0].group_type.value() == "identity");
  CHECK(devices[1].bdf == "0000:5e:00.0");
  CHECK(devices[1].group == "13");
}

TEST_CASE("find_pci_devices: translating AMD host → the type as written") {
  const auto devices = find(*machine("amd-translated"));
  REQUIRE(devices.size() == 2);
  CHECK(devices[1].group_type.value() == "DMA-FQ");
}

TEST_CASE("find_pci_devices: no IOMMU → no group, and that's certain") {
  for (const auto* name : {"no-iommu", "intel-off-by-default"}) {
    const auto devices = find(*machine(name));
    REQUIRE(devices.size() == 2);
    CHECK_FALSE(devices[0].group.has_value());
    CHECK(devices[0].group_type.has_value());
  }
}

TEST_CASE("find_pci_devices: kernel without `type` files → the group, and an error for the type") {
  const auto system = machine("rhel-8.0");
  const auto devices = find(*system);
  REQUIRE(devices.size() == 2);
  CHECK(devices[0].group == "12");
  REQUIRE_FALSE(devices[0].group_type.has_value());
  CHECK(devices[0].group_type.error().code == Errc::not_found);
  CHECK(devices[0].group_type.error().text().find("iommu_group/type") != std::string::npos);
}

TEST_CASE("find_pci_devices: bound to vfio-pci → that driver") {
  CHECK(find(*machine("vfio-bound"))[0].driver == "vfio-pci");
}

TEST_CASE("find_pci_devices: nothing matches → an empty list") {
  CHECK(find(*machine("no-gpu")).empty());
}

TEST_CASE("find_pci_devices: patterns of vendor, device and class → the functions of each") {
  const auto system = machine("intel-identity");
  const auto count = [&](std::string_view pattern) {
    const auto match = parse_pci_match(pattern);
    REQUIRE(match.has_value());
    const auto devices = find_pci_devices(*system, {*match});
    REQUIRE(devices.has_value());
    return devices->size();
  };
  CHECK(count("*:*") == 8);
  CHECK(count("10de:*") == 4);
  CHECK(count("10de:22ba") == 2);
  CHECK(count("10DE:*:03") == 2);
  CHECK(count("*:*:0604") == 2);
  CHECK(count("8086:15fa:020000") == 1);
  CHECK(count("8086:15fa:0201") == 0);
  CHECK(count("1002:*") == 0);
}

TEST_CASE("find_pci_devices: no /sys/bus/pci → an error that names it") {
  TempRoot root;
  const auto devices = find_pci_devices(root.system(), nvidia());
  REQUIRE_FALSE(devices.has_value());
  CHECK(devices.error().code == Errc::not_found);
  CHECK(devices.error().text().find("/sys/bus/pci/devices'") != std::string::npos);
}

TEST_CASE("find_pci_devices: a file in place of the list → an error that names it") {
  TempRoot root;
  root.file("/sys/bus/pci/devices", "0000:3b:00.0\n");
  const auto devices = find_pci_devices(root.system(), nvidia());
  REQUIRE_FALSE(devices.has_value());
  CHECK(devices.error().text().find("/sys/bus/pci/devices'") != std::string::npos);
}

TEST_CASE("find_pci_devices: an entry that isn't an address → an error that names it") {
  TempRoot root;
  add_gpu(root, gpu, "12");
  root.file("/sys/bus/pci/devices/README", "");
  const auto devices = find_pci_devices(root.system(), nvidia());
  REQUIRE_FALSE(devices.has_value());
  CHECK(devices.error().code == Errc::malformed);
  CHECK(devices.error().text().find("devices/README'") != std::string::npos);
}

TEST_CASE("find_pci_devices: a class that can't be told → listed, with an error that names it") {
  TempRoot root;
  add_gpu(root, gpu, "12");
  root.file("/sys/kernel/iommu_groups/12/type", "identity\n");
  root.remove(in_devices + "/class");
  auto code = Errc::malformed;
  SECTION("missing") {
    code = Errc::not_found;
  }
  SECTION("empty") {
    root.file(in_devices + "/class", "");
  }
  SECTION("binary") {
    root.file(in_devices + "/class", std::string("\x7f\0ELF", 5));
  }
  SECTION("not hexadecimal") {
    root.file(in_devices + "/class", "0x03z200\n");
  }
  SECTION("too long") {
    root.file(in_devices + "/class", "0x0302000\n");
  }
  SECTION("huge") {
    root.file(in_devices + "/class", std::string(100000, '0'));
    code = Errc::too_large;
  }
  SECTION("a cyclic link") {
    root.link(in_devices + "/class", "class");
  }
  SECTION("a directory") {
    root.directory(in_devices + "/class");
    code = Errc::internal;
  }
  check_unknown(root, in_bus + "/class", code);
}

TEST_CASE("find_pci_devices: a vendor or device that can't be told → listed, with its error") {
  TempRoot root;
  add_gpu(root, gpu, "12");
  root.file("/sys/kernel/iommu_groups/12/type", "identity\n");
  const auto* name = GENERATE("/vendor", "/device");
  const auto only_its_device = std::vector{*parse_pci_match("10de:2330:03")};
  root.file(in_devices + name, "10de\n");
  const auto devices = find_pci_devices(root.system(), only_its_device);
  REQUIRE(devices.has_value());
  REQUIRE(devices->size() == 1);
  REQUIRE_FALSE(devices->front().group_type.has_value());
  CHECK(devices->front().group_type.error().text().find(name) != std::string::npos);
}

TEST_CASE("find_pci_devices: the function's link dangles → listed, with an error") {
  TempRoot root;
  add_gpu(root, gpu, "12");
  root.remove(in_devices);
  check_unknown(root, in_bus + "/class", Errc::not_found);
}

TEST_CASE("find_pci_devices: CRLF in each file → read all the same") {
  TempRoot root;
  add_gpu(root, gpu, "12");
  root.file("/sys/kernel/iommu_groups/12/type", "identity\r\n");
  root.file(in_devices + "/class", "0x030200\r\n");
  root.file(in_devices + "/vendor", "0x10de\r\n");
  const auto devices = find(root.system());
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].group_type.value() == "identity");
}

TEST_CASE("find_pci_devices: a type that can't be read → an error that names it") {
  TempRoot root;
  add_gpu(root, gpu, "12");
  const std::string type = "/sys/kernel/iommu_groups/12/type";
  auto code = Errc::malformed;
  SECTION("missing") {
    code = Errc::not_found;
  }
  SECTION("the group is missing") {
    root.remove("/sys/kernel/iommu_groups/12");
    code = Errc::not_found;
  }
  SECTION("binary") {
    root.file(type, std::string("\x00\xff\x01", 3));
  }
  SECTION("several words") {
    root.file(type, "identity DMA\n");
  }
  SECTION("a page of letters") {
    root.file(type, std::string(4096, 'i'));
  }
  SECTION("huge") {
    root.file(type, std::string(100000, 'i'));
    code = Errc::too_large;
  }
  SECTION("a cyclic link") {
    root.link(type, "type");
  }
  SECTION("a directory") {
    root.directory(type);
    code = Errc::internal;
  }
  check_unknown(root, in_bus + "/iommu_group/type", code);
}

TEST_CASE("find_pci_devices: a type without permission → an error that names it") {
  if (::geteuid() == 0) return;  // root may read everything
  TempRoot root;
  add_gpu(root, gpu, "12");
  root.file("/sys/kernel/iommu_groups/12/type", "identity\n", 0000);
  check_unknown(root, in_bus + "/iommu_group/type", Errc::denied);
}

TEST_CASE("find_pci_devices: an empty type → empty, for the check to judge") {
  TempRoot root;
  add_gpu(root, gpu, "12");
  root.file("/sys/kernel/iommu_groups/12/type", "");
  const auto devices = find(root.system());
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].group == "12");
  CHECK(devices[0].group_type.value().empty());
}

TEST_CASE("find_pci_devices: the group's link is something else → an error, not `no group`") {
  TempRoot root;
  add_gpu(root, gpu, "12");
  root.remove(in_devices + "/iommu_group");
  SECTION("a directory") {
    root.directory(in_devices + "/iommu_group");
  }
  SECTION("a file") {
    root.file(in_devices + "/iommu_group", "12\n");
  }
  SECTION("a link to no group") {
    root.link(in_devices + "/iommu_group", "../../../kernel/iommu_groups/twelve");
  }
  check_unknown(root, in_bus + "/iommu_group", Errc::malformed);
}

TEST_CASE("find_pci_devices: the driver's link is something else → an error that names it") {
  TempRoot root;
  add_gpu(root, gpu, "12");
  root.file("/sys/kernel/iommu_groups/12/type", "identity\n");
  root.remove(in_devices + "/driver").directory(in_devices + "/driver");
  check_unknown(root, in_bus + "/driver", Errc::malformed);
}

TEST_CASE("find_pci_devices: no driver bound → an empty name") {
  TempRoot root;
  add_gpu(root, gpu, "12");
  root.file("/sys/kernel/iommu_groups/12/type", "identity\n");
  root.remove(in_devices + "/driver");
  CHECK(find(root.system())[0].driver.empty());
}

TEST_CASE("find_pci_devices: no group in a sysfs without /sys/kernel → an error, not `no group`") {
  TempRoot root;
  add_gpu(root, gpu, "12");
  root.remove(in_devices + "/iommu_group").remove("/sys/kernel");
  check_unknown(root, "/sys/kernel", Errc::not_found);
}

TEST_CASE("find_pci_devices: one GPU can't be read → the other is judged all the same") {
  TempRoot root;
  add_gpu(root, gpu, "12");
  add_gpu(root, "10000:e1:00.0", "13");
  root.file("/sys/kernel/iommu_groups/13/type", "identity\n");
  const auto devices = find(root.system());
  REQUIRE(devices.size() == 2);
  CHECK_FALSE(devices[0].group_type.has_value());
  CHECK(devices[1].group_type.value() == "identity");
}

TEST_CASE(
    "find_rdma_nics: by the infiniband directory, the class or Mellanox → found, others not") {
  TempRoot root;
  root.directory("/sys/kernel/iommu_groups");
  const auto add = [&](const std::string& bdf, const std::string& vendor,
                       const std::string& class_code) {
    const auto device = "/sys/devices/pci0000:00/" + bdf;
    root.file(device + "/vendor", vendor).file(device + "/device", "0x1017\n");
    root.file(device + "/class", class_code);
    root.link("/sys/bus/pci/devices/" + bdf, "../../../devices/pci0000:00/" + bdf);
    return device;
  };
  add("0000:01:00.0", "0x8086\n", "0x020000\n");
  root.directory(add("0000:02:00.0", "0x14e4\n", "0x020000\n") + "/infiniband");
  add("0000:03:00.0", "0x15b3\n", "0x020000\n");
  add("0000:04:00.0", "0x1077\n", "0x020700\n");
  add("0000:05:00.0", "0x15b3\n", "0x060400\n");
  const auto nics = find_rdma_nics(root.system());
  REQUIRE(nics.has_value());
  REQUIRE(nics->size() == 3);
  CHECK(nics->at(0).bdf == "0000:02:00.0");
  CHECK(nics->at(1).bdf == "0000:03:00.0");
  CHECK(nics->at(2).bdf == "0000:04:00.0");
}

TEST_CASE("read_pci_devices: addresses with and without the domain → the functions, any class") {
  const auto system = machine("intel-identity");
  const auto devices = read_pci_devices(*system, {"5E:00.1", "0000:00:02.0"});
  REQUIRE(devices.has_value());
  REQUIRE(devices->size() == 2);
  CHECK(devices->at(0).bdf == "0000:5e:00.1");
  CHECK(devices->at(0).class_code == 0x040300);
  CHECK(devices->at(0).group_type.value() == "identity");
  CHECK(devices->at(1).driver == "pcieport");
}

TEST_CASE("read_pci_devices: the same address twice → one function") {
  const auto devices =
      read_pci_devices(*machine("intel-identity"), {"5e:00.0", "0000:5E:00.0", "0000:3b:00.0"});
  REQUIRE(devices.has_value());
  CHECK(devices->size() == 2);
}

TEST_CASE("read_pci_devices: no such function → not found, naming the address") {
  const auto devices = read_pci_devices(*machine("intel-identity"), {"0000:3c:00.0"});
  REQUIRE_FALSE(devices.has_value());
  CHECK(devices.error().code == Errc::not_found);
  CHECK(devices.error().text().find("'0000:3c:00.0'") != std::string::npos);
}

TEST_CASE("read_pci_devices: not an address → malformed, naming the text") {
  const auto* text = GENERATE("", "3b", "3b:00", "3b:00.8", "0000:3b:00.0/../..", "3b:00.0\n",
                              "zz:00.0", "0:3b:00.0", "GPU-1234");
  const auto devices = read_pci_devices(*machine("intel-identity"), {text});
  REQUIRE_FALSE(devices.has_value());
  CHECK(devices.error().code == Errc::malformed);
}

TEST_CASE("parse_pci_match: well-formed patterns → their parts") {
  const auto all = parse_pci_match("*:*:*");
  REQUIRE(all.has_value());
  CHECK_FALSE(all->vendor.has_value());
  CHECK_FALSE(all->device.has_value());
  CHECK(all->class_prefix.empty());
  const auto one = parse_pci_match("10DE:2330:03020A");
  REQUIRE(one.has_value());
  CHECK(one->vendor == 0x10de);
  CHECK(one->device == 0x2330);
  CHECK(one->class_prefix == "03020a");
}

TEST_CASE("parse_pci_match: malformed patterns → an error that names the text") {
  const std::string text = GENERATE("", "10de", "10de:", ":*", "10de:*:", "10de:*:0302000",
                                    "10de:*:03:00", "0x10de:*", "1000de:*", "10de:*:3d controller");
  const auto match = parse_pci_match(text);
  REQUIRE_FALSE(match.has_value());
  CHECK(match.error().code == Errc::malformed);
  CHECK(match.error().text().find("'" + text + "'") != std::string::npos);
}

}  // namespace peerpath::probe
