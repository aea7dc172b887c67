// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/fstab.hpp"

#include "support/catch.hpp"
#include "support/temp_root.hpp"

namespace peerpath::probe {

using test::TempRoot;

TEST_CASE("parse_fstab: comments, blank lines, tabs and CRLF → the entries with their lines") {
  const auto fstab = parse_fstab(
      "# /etc/fstab\n\nUUID=11-22\t/  ext4\terrors=remount-ro 0 1\n"
      "   # indented\nPARTLABEL=boot /boot/ ext4 noauto\r\n/dev/sda3 none swap sw 0 0");
  CHECK(fstab.flaws.empty());
  REQUIRE(fstab.entries.size() == 3);
  CHECK(fstab.entries[0].spec == "UUID=11-22");
  CHECK(fstab.entries[0].directory == "/");
  CHECK(fstab.entries[0].type == "ext4");
  CHECK(fstab.entries[0].options == "errors=remount-ro");
  CHECK(fstab.entries[0].line == 3);
  CHECK(fstab.entries[1].spec == "PARTLABEL=boot");
  CHECK(fstab.entries[1].directory == "/boot");
  CHECK(fstab.entries[1].options == "noauto");
  CHECK(fstab.entries[1].line == 5);
  CHECK(fstab.entries[2].directory == "none");
  CHECK(fstab.entries[2].line == 6);
}

TEST_CASE("parse_fstab: escapes and quotes → what they stand for") {
  const auto fstab = parse_fstab(
      "LABEL=my\\040disk /with\\011tab xfs\nLABEL=\"quoted\" /q ext4\n/dev/disk\\134x / ext4\n");
  REQUIRE(fstab.entries.size() == 3);
  CHECK(fstab.entries[0].spec == "LABEL=my disk");
  CHECK(fstab.entries[0].directory == "/with\ttab");
  CHECK(fstab.entries[0].options.empty());
  CHECK(fstab.entries[1].spec == "LABEL=quoted");
  CHECK(fstab.entries[2].spec == "/dev/disk\\x");
}

TEST_CASE("parse_fstab: bad lines → named by their number, the others stay") {
  const auto fstab = parse_fstab("UUID=1 /\nUUID=2 boot ext4\nUUID=3 /boot ext4\nword\n");
  REQUIRE(fstab.entries.size() == 1);
  CHECK(fstab.entries[0].spec == "UUID=3");
  REQUIRE(fstab.flaws.size() == 3);
  CHECK(fstab.flaws[0].line == 1);
  CHECK(fstab.flaws[0].reason == "has fewer than three fields");
  CHECK(fstab.flaws[1].line == 2);
  CHECK(fstab.flaws[1].reason == "names no directory to mount on");
  CHECK(fstab.flaws[2].line == 4);
}

TEST_CASE("unescape_mount_field: what isn't three octal digits of a byte → itself") {
  CHECK(unescape_mount_field("a\\040b") == "a b");
  CHECK(unescape_mount_field("\\040") == " ");
  CHECK(unescape_mount_field("a\\04") == "a\\04");
  CHECK(unescape_mount_field("a\\") == "a\\");
  CHECK(unescape_mount_field("\\089") == "\\089");
  CHECK(unescape_mount_field("\\000x") == "\\000x");
  CHECK(unescape_mount_field("\\777x") == "\\777x");
  CHECK(unescape_mount_field("\\377") == "\xff");
  CHECK(unescape_mount_field("").empty());
}

TEST_CASE("read_fstab: none → empty; a directory → an error that names it") {
  TempRoot root;
  const auto none = read_fstab(root.system());
  REQUIRE(none.has_value());
  CHECK(none->entries.empty());
  root.directory("/etc/fstab");
  const auto wrong = read_fstab(root.system());
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().text().find("/etc/fstab'") != std::string::npos);
}

TEST_CASE("read_fstab: an absolute link → the file inside the root") {
  TempRoot root;
  root.link("/etc/fstab", "/etc/fstab.real").file("/etc/fstab.real", "LABEL=a / ext4\n");
  const auto fstab = read_fstab(root.system());
  REQUIRE(fstab.has_value());
  REQUIRE(fstab->entries.size() == 1);
  CHECK(fstab->entries[0].spec == "LABEL=a");
}

}  // namespace peerpath::probe
