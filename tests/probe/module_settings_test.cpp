// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/module_settings.hpp"

#include "support/catch.hpp"
#include "support/temp_root.hpp"

namespace peerpath::probe {

using test::TempRoot;

TEST_CASE("parse_modprobe: commands, comments, continued lines → with their first lines") {
  const auto all = parse_modprobe(
      "# blacklist a\n\nblacklist nouveau\n options\tvfio-pci  ids=10de:2330 \\\n disable_vga=1\n"
      "alias pci:v0-x my-module\nblacklist\ninstall nouveau /bin/false\r\nblacklist last\\",
      "/f");
  REQUIRE(all.size() == 5);
  CHECK(all[0].command == "blacklist");
  CHECK(all[0].name == "nouveau");
  CHECK(all[0].line == 3);
  CHECK(all[0].file == "/f");
  CHECK(all[1].command == "options");
  CHECK(all[1].name == "vfio_pci");
  CHECK(all[1].rest == "ids=10de:2330  disable_vga=1");
  CHECK(all[1].line == 4);
  CHECK(all[2].name == "pci:v0_x");
  CHECK(all[2].rest == "my_module");
  CHECK(all[2].line == 6);
  CHECK(all[3].rest == "/bin/false");
  CHECK(all[3].line == 8);
  CHECK(all[4].name == "last");
}

TEST_CASE("read_module_settings: files by name, /etc before /run before /usr/lib") {
  TempRoot root;
  root.file("/usr/lib/modprobe.d/a.conf", "blacklist vendor_a\n")
      .file("/usr/lib/modprobe.d/b.conf", "blacklist vendor_b\n")
      .file("/run/modprobe.d/b.conf", "blacklist run_b\n")
      .file("/etc/modprobe.d/a.conf", "blacklist admin_a\n")
      .file("/etc/modprobe.d/c.conf", "blacklist admin_c\n")
      .file("/etc/modprobe.d/d.conf.bak", "blacklist no\n")
      .file("/etc/modprobe.d/.e.conf", "blacklist no\n")
      .file("/lib/modprobe.d/f.conf", "blacklist old_f\n");
  const auto settings = read_module_settings(root.system());
  CHECK(settings.unread.empty());
  REQUIRE(settings.modprobe.size() == 4);
  CHECK(settings.modprobe[0].name == "admin_a");
  CHECK(settings.modprobe[1].name == "run_b");
  CHECK(settings.modprobe[1].file == "/run/modprobe.d/b.conf");
  CHECK(settings.modprobe[2].name == "admin_c");
  CHECK(settings.modprobe[3].name == "old_f");
}

TEST_CASE("read_module_settings: links stay inside the root, masked files are empty") {
  TempRoot root;
  root.file("/etc/alternatives/x.conf", "blacklist nouveau\n")
      .link("/etc/modprobe.d/x.conf", "/etc/alternatives/x.conf")
      .file("/usr/lib/modprobe.d/masked.conf", "blacklist nvidia\n")
      .link("/etc/modprobe.d/masked.conf", "/dev/null")
      .link("/etc/modprobe.d/dangling.conf", "/nowhere");
  SECTION("no /dev in the root") {}
  SECTION("a /dev/null that isn't a device") {
    root.directory("/dev/null");
  }
  const auto settings = read_module_settings(root.system());
  CHECK(settings.unread.empty());
  REQUIRE(settings.modprobe.size() == 1);
  CHECK(settings.modprobe[0].name == "nouveau");
  CHECK(settings.modprobe[0].file == "/etc/modprobe.d/x.conf");
}

TEST_CASE("read_module_settings: what can't be read is named") {
  TempRoot root;
  root.directory("/etc/modprobe.d/a.conf");
  const auto settings = read_module_settings(root.system());
  REQUIRE(settings.unread.size() == 1);
  CHECK(settings.unread[0].text().find("/etc/modprobe.d/a.conf'") != std::string::npos);
}

TEST_CASE("read_module_settings: modules that are loaded at boot, with file and line") {
  TempRoot root;
  root.file("/etc/modules", "# comment\n\nvfio-pci\n")
      .link("/etc/modules-load.d/modules.conf", "../modules")
      .file("/usr/lib/modules-load.d/z.conf", "; other\nnvidia\n")
      .file("/etc/initramfs-tools/modules", "vfio_pci ids=10de:2330\n");
  const auto settings = read_module_settings(root.system());
  REQUIRE(settings.loads.size() == 3);
  CHECK(settings.loads[0].module == "vfio_pci");
  CHECK(settings.loads[0].file == "/etc/modules-load.d/modules.conf");
  CHECK(settings.loads[0].line == 3);
  CHECK(settings.loads[1].module == "nvidia");
  CHECK(settings.loads[1].line == 2);
  CHECK(settings.loads[2].options == "ids=10de:2330");
  CHECK(settings.loads[2].file == "/etc/initramfs-tools/modules");
}

}  // namespace peerpath::probe
