// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/mounts.hpp"

#include "support/fake_system.hpp"
#include "support/temp_root.hpp"

namespace peerpath::probe {

using test::FakeSystem;
using test::TempRoot;

TEST_CASE("parse_mountinfo: with and without tags, escapes → number, source, directory, type") {
  const auto mounts = parse_mountinfo(
      "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n"
      "31 22 0:27 /sub /a\\040b rw - btrfs /dev/sdb1 rw,subvol=/sub\n"
      "40 22 259:1 / /boot/efi rw shared:9 master:2 - vfat /dev/nvme0n1p1 rw,fmask=0077\n");
  REQUIRE(mounts.has_value());
  REQUIRE(mounts->size() == 3);
  CHECK((*mounts)[0].device_number == "259:2");
  CHECK((*mounts)[0].source == "/dev/nvme0n1p2");
  CHECK((*mounts)[0].directory == "/");
  CHECK((*mounts)[0].type == "ext4");
  CHECK((*mounts)[1].directory == "/a b");
  CHECK((*mounts)[1].type == "btrfs");
  CHECK((*mounts)[2].device_number == "259:1");
  CHECK((*mounts)[2].directory == "/boot/efi");
}

TEST_CASE("parse_mountinfo: a line that isn't one → malformed, with its number") {
  for (const std::string line : {"22 1 259:2 / / rw", "22 1 259:2 / / - ext4 a b", "", "x - y z"}) {
    INFO(line);
    const auto mounts = parse_mountinfo("22 1 8:2 / / rw - ext4 /dev/sda2 rw\n" + line + "\n");
    REQUIRE_FALSE(mounts.has_value());
    CHECK(mounts.error().code == Errc::malformed);
    CHECK(mounts.error().text().find("line 2") != std::string::npos);
  }
}

TEST_CASE("read_mounts: another root → unsupported, its /proc isn't read") {
  TempRoot root;
  root.file("/proc/self/mountinfo", "22 1 8:2 / / rw - ext4 /dev/sda2 rw\n");
  FakeSystem system(root.path());
  const auto other = read_mounts(system);
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().code == Errc::unsupported);
  system.booted = true;
  const auto mounts = read_mounts(system);
  REQUIRE(mounts.has_value());
  CHECK(mounts->size() == 1);
}

TEST_CASE("read_mounts: a file that isn't one → malformed, with file and line") {
  TempRoot root;
  root.file("/proc/self/mountinfo", "nonsense\n");
  FakeSystem system(root.path());
  system.booted = true;
  const auto mounts = read_mounts(system);
  REQUIRE_FALSE(mounts.has_value());
  CHECK(mounts.error().text().find("/proc/self/mountinfo': line 1") != std::string::npos);
}

}  // namespace peerpath::probe
