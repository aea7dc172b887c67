// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/block_devices.hpp"

#include "support/fake_system.hpp"
#include "support/temp_root.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace peerpath::probe {
namespace {

using test::FakeSystem;
using test::TempRoot;

constexpr std::size_t sector = 512;
constexpr std::size_t disk_sectors = 4096;
/// GUIDs as they lie on the disk, the first three parts with their bytes swapped.
const std::string esp_type("\x28\x73\x2a\xc1\x1f\xf8\xd2\x11\xba\x4b\x00\xa0\xc9\x3e\xc9\x3b", 16);
const std::string xbootldr_type("\xff\xc2\x13\xbc\xe6\x59\x62\x42\xa3\x52\xb2\x75\xfd\x6f\x71\x72",
                                16);
const std::string linux_type("\xaf\x3d\xc6\x0f\x83\x84\x72\x47\x8e\x79\x3d\x69\xd8\x47\x7d\xe4",
                             16);

void put(std::string& to, std::size_t offset, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    to[offset + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i) & 0xff);
}

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
  }
  return ~crc;
}

/// A disk with an MBR that has one partition after the other.
std::string mbr_disk(const std::vector<std::uint8_t>& types) {
  std::string disk(disk_sectors * sector, '\0');
  std::size_t start = 64;
  for (std::size_t i = 0; i < types.size(); ++i, start += 64) {
    const auto entry = 446 + 16 * i;
    put(disk, entry + 4, types[i], 1);
    put(disk, entry + 8, start, 4);
    put(disk, entry + 12, types[i] == 0xee ? disk_sectors - 1 : 64, 4);
    if (types[i] == 0xee) put(disk, entry + 8, 1, 4);
  }
  put(disk, 440, 0x1234abcd, 4);
  put(disk, 510, 0xaa55, 2);
  return disk;
}

/// The primary header and table of a GPT; UEFI specification 2.10, 5.3.
std::string gpt_disk(const std::vector<std::string>& types) {
  auto disk = mbr_disk({0xee});
  std::string table(std::size_t{128} * 128, '\0');
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto entry = 128 * i;
    table.replace(entry, 16, types[i]);
    table.replace(entry + 16, 16, std::string(16, static_cast<char>('\x11' * (i + 1))));
    put(table, entry + 32, 64 + 64 * i, 8);
    put(table, entry + 40, 127 + 64 * i, 8);
  }
  std::string header(92, '\0');
  header.replace(0, 8, "EFI PART");
  put(header, 8, 0x10000, 4);
  put(header, 12, header.size(), 4);
  put(header, 24, 1, 8);
  put(header, 32, disk_sectors - 1, 8);
  put(header, 40, 34, 8);
  put(header, 48, disk_sectors - 34, 8);
  header.replace(56, 16, std::string(16, 'd'));
  put(header, 72, 2, 8);
  put(header, 80, 128, 4);
  put(header, 84, 128, 4);
  put(header, 88, crc32(table), 4);
  put(header, 16, crc32(header), 4);
  disk.replace(sector, header.size(), header);
  disk.replace(2 * sector, table.size(), table);
  return disk;
}

/// A booted system whose disk is a file of the test's: /sys/block has its name, from which its
/// node is made, `!` being a `/` there.
struct Disk {
  TempRoot root;
  FakeSystem system{root.path()};
  std::string sys;

  explicit Disk(const std::string& content) {
    root.file("/disk.img", content);
    system.booted = true;
    auto name = "../" + root.path().substr(1) + "/disk.img";
    std::replace(name.begin(), name.end(), '/', '!');
    sys = "/sys/block/" + name;
    root.directory(sys + "/queue");
  }
  void add(unsigned number, const std::string& device_number) {
    const auto partition = sys + "/sdz" + std::to_string(number);
    root.file(partition + "/partition", std::to_string(number) + "\n")
        .file(partition + "/dev", device_number + "\n")
        .directory(partition + "/holders");
  }
};

BootPartition esp(const std::string& device_number) {
  return {BootPartitionKind::esp, "/dev/sda1", device_number, "aa-bb", false};
}

}  // namespace

TEST_CASE("boot_partition_kind: the types of GPT and of MBR, each in its own table only") {
  const auto gpt = [](const std::string& type) {
    return boot_partition_kind({1, "gpt", type, 0, ""});
  };
  const auto mbr = [](std::uint8_t code) { return boot_partition_kind({1, "dos", "", code, ""}); };
  CHECK(gpt("c12a7328-f81f-11d2-ba4b-00a0c93ec93b") == BootPartitionKind::esp);
  CHECK(gpt("bc13c2ff-59e6-4262-a352-b275fd6f7172") == BootPartitionKind::xbootldr);
  CHECK_FALSE(gpt("0fc63daf-8483-4772-8e79-3d69d8477de4"));
  CHECK_FALSE(gpt(""));
  CHECK(mbr(0xef) == BootPartitionKind::esp);
  CHECK(mbr(0xea) == BootPartitionKind::xbootldr);
  CHECK_FALSE(mbr(0x83));
  CHECK_FALSE(boot_partition_kind({1, "gpt", "", 0xef, ""}));
  CHECK_FALSE(boot_partition_kind({1, "sun", "", 0xef, ""}));
}

TEST_CASE("read_partition_table: a GPT → numbers, types and PARTUUIDs") {
  TempRoot root;
  root.file("/disk", gpt_disk({linux_type, esp_type, xbootldr_type}));
  const auto table = read_partition_table(root.path() + "/disk");
  REQUIRE(table.has_value());
  REQUIRE(table->size() == 3);
  CHECK((*table)[0].table == "gpt");
  CHECK((*table)[0].type == "0fc63daf-8483-4772-8e79-3d69d8477de4");
  CHECK((*table)[1].number == 2);
  CHECK((*table)[1].type == "c12a7328-f81f-11d2-ba4b-00a0c93ec93b");
  CHECK((*table)[1].uuid == "22222222-2222-2222-2222-222222222222");
  CHECK(boot_partition_kind((*table)[2]) == BootPartitionKind::xbootldr);
}

TEST_CASE("read_partition_table: an MBR → its type bytes; the PARTUUID from the disk's number") {
  TempRoot root;
  root.file("/disk", mbr_disk({0x83, 0xef}));
  const auto table = read_partition_table(root.path() + "/disk");
  REQUIRE(table.has_value());
  REQUIRE(table->size() == 2);
  CHECK((*table)[1].table == "dos");
  CHECK((*table)[1].code == 0xef);
  CHECK((*table)[1].uuid == "1234abcd-02");
}

TEST_CASE("read_partition_table: no table → empty; no disk → an error that names it") {
  TempRoot root;
  root.file("/disk", std::string(disk_sectors * sector, '\0'));
  const auto empty = read_partition_table(root.path() + "/disk");
  REQUIRE(empty.has_value());
  CHECK(empty->empty());
  const auto none = read_partition_table(root.path() + "/none");
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().code == Errc::not_found);
  CHECK(none.error().text().find("/none'") != std::string::npos);
}

TEST_CASE("find_boot_partitions: several ESPs on a disk → each with its device, whole or held") {
  Disk disk(gpt_disk({esp_type, linux_type, xbootldr_type, esp_type}));
  disk.add(1, "8:1");
  disk.add(2, "8:2");
  disk.add(3, "8:3");
  disk.add(4, "8:4");
  disk.root.directory(disk.sys + "/sdz4/holders/md127");
  const auto found = find_boot_partitions(disk.system);
  REQUIRE(found.has_value());
  CHECK(found->unread.empty());
  REQUIRE(found->partitions.size() == 3);
  const auto& first = found->partitions[0];
  CHECK(first.kind == BootPartitionKind::esp);
  CHECK(first.device == "/dev/sdz1");
  CHECK(first.device_number == "8:1");
  CHECK(first.uuid == "11111111-1111-1111-1111-111111111111");
  CHECK_FALSE(first.held);
  CHECK(found->partitions[1].kind == BootPartitionKind::xbootldr);
  CHECK(found->partitions[1].device_number == "8:3");
  CHECK(found->partitions[2].device == "/dev/sdz4");
  CHECK(found->partitions[2].held);
}

TEST_CASE("find_boot_partitions: a disk that multipath holds → its partitions are held") {
  Disk disk(gpt_disk({esp_type}));
  disk.add(1, "8:1");
  disk.root.directory(disk.sys + "/holders/dm-0");
  const auto found = find_boot_partitions(disk.system);
  REQUIRE(found.has_value());
  REQUIRE(found->partitions.size() == 1);
  CHECK(found->partitions[0].held);
}

TEST_CASE(
    "find_boot_partitions: a disk without partitions isn't opened, one that can't be is named") {
  Disk disk("");
  disk.root.remove("/disk.img");
  const auto none = find_boot_partitions(disk.system);
  REQUIRE(none.has_value());
  CHECK(none->partitions.empty());
  CHECK(none->unread.empty());
  disk.add(1, "8:1");
  const auto unread = find_boot_partitions(disk.system);
  REQUIRE(unread.has_value());
  CHECK(unread->partitions.empty());
  REQUIRE(unread->unread.size() == 1);
  CHECK(unread->unread[0].text().find("disk.img'") != std::string::npos);
}

TEST_CASE("find_boot_partitions: another root than the booted system → unsupported") {
  Disk disk(gpt_disk({esp_type}));
  disk.add(1, "8:1");
  disk.system.booted = false;
  const auto found = find_boot_partitions(disk.system);
  REQUIRE_FALSE(found.has_value());
  CHECK(found.error().code == Errc::unsupported);
}

TEST_CASE("not_mounted: by device number, whatever the node is called; held ones aren't counted") {
  const std::vector<Mount> mounts{{"8:2", "/dev/sda2", "/", "ext4"},
                                  {"8:1", "/dev/disk/by-uuid/x", "/efi", "vfat"}};
  CHECK(not_mounted({esp("8:1")}, mounts).empty());
  CHECK(not_mounted({esp("8:1")}, {}).size() == 1);
  const auto rest = not_mounted({esp("8:1"), esp("8:17"), esp("8:11")}, mounts);
  REQUIRE(rest.size() == 2);
  CHECK(rest[0].device_number == "8:17");
  auto held = esp("8:17");
  held.held = true;
  CHECK(not_mounted({held}, mounts).empty());
}

TEST_CASE("describe_not_mounted: device, kind and PARTUUID") {
  CHECK(describe_not_mounted(esp("8:1")) ==
        "'/dev/sda1', an EFI system partition (PARTUUID=aa-bb), isn't mounted: entries on it "
        "aren't judged");
  auto other = esp("8:1");
  other.kind = BootPartitionKind::xbootldr;
  other.uuid.clear();
  CHECK(describe_not_mounted(other) ==
        "'/dev/sda1', an extended boot loader partition, isn't mounted: entries on it aren't "
        "judged");
}

TEST_CASE("resolve_device: what this machine hasn't got, or what is no device → nothing") {
  TempRoot root;
  root.file("/file", "");
  for (const auto& spec : std::vector<std::string>{
           "UUID=0badcafe-dead-4bad-8bad-0123456789ab", "LABEL=no such label at all",
           "PARTUUID=0badcafe-dead-4bad-8bad-0123456789ab", "PARTLABEL=none-of-that-name",
           "/dev/none-of-that-name", root.path() + "/file", "/dev/null", "server:/export", "",
           "UUID=", "LABEL", "tmpfs"}) {
    INFO(spec);
    CHECK_FALSE(resolve_device(spec));
  }
}

TEST_CASE("resolve_device: a node, or a link to one → the device") {
  TempRoot root;
  const auto node = root.path() + "/node";
  // A number for which there's no driver: the node is looked at, never opened.
  if (::mknod(node.c_str(), S_IFBLK | 0600, makedev(511, 7)) != 0) {
    WARN("a device node needs privileges to be made: not tested");
    return;
  }
  root.link("/link", "node");
  CHECK(resolve_device(node) == node);
  CHECK(resolve_device(root.path() + "/link").has_value());
}

}  // namespace peerpath::probe
