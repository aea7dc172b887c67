// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/grub_config.hpp"

#include "boot/grub_root.hpp"
#include "boot/judge_entry.hpp"
#include "support/catch.hpp"

using namespace peerpath;
using namespace peerpath::boot;
using peerpath::test::grub_config;
using peerpath::test::GrubRoot;
using peerpath::test::TempRoot;

namespace {

std::vector<JudgedEntry> judged(const System& system) {
  return judge_entries(read_grub_config(system).value().entries, cmdline::Arch::x86_64);
}

}  // namespace

TEST_CASE("grub.cfg: every linux line is an entry, in submenus and recovery mode too") {
  GrubRoot machine;
  const auto entries = read_grub_config(machine.system).value().entries;
  REQUIRE(entries.size() == 5);
  CHECK(entries[0].title == "Debian GNU/Linux");
  CHECK(entries[1].title ==
        "Advanced options for Debian GNU/Linux > Debian GNU/Linux, with Linux 6.1.0-35-amd64");
  CHECK(entries[0].version == "6.1.0-35-amd64");
  CHECK(entries[4].version == "6.1.0-31-amd64");
  CHECK(entries[0].generated);
  CHECK(entries[0].kernel_present);
  CHECK(
      entries[0].command_lines ==
      std::vector<std::string>{"BOOT_IMAGE=/boot/vmlinuz-6.1.0-35-amd64 root=UUID=11-22 ro quiet"});
  CHECK(entries[0].file == "/boot/grub/grub.cfg");
  CHECK(entries[0].line > 0);
}

TEST_CASE("grub.cfg: each entry is judged by its own line") {
  TempRoot root;
  root.file("/boot/vmlinuz-6.1", "")
      .file("/boot/grub/grub.cfg",
            "menuentry a {\n linux /boot/vmlinuz-6.1 iommu=pt\n}\n"
            "menuentry b {\n linux /boot/vmlinuz-6.1 iommu=pt iommu=nopt\n}\n"
            "menuentry c {\n linuxefi /boot/vmlinuz-6.1 quiet\n}\n"
            "menuentry d {\n linux16 /boot/vmlinuz-6.1 iommu=off\n}\n"
            "set v=iommu=pt\nset v=\n"
            "menuentry e {\n linux /boot/vmlinuz-6.1 $v\n}\n");
  const auto entries = judged(root.system());
  REQUIRE(entries.size() == 5);
  CHECK(entries[0].mode == cmdline::Mode::passthrough);
  CHECK(entries[1].mode == cmdline::Mode::translated);
  CHECK(entries[1].judgement.decided_by->text == "iommu=nopt");
  CHECK(entries[2].mode == cmdline::Mode::kernel_default);
  CHECK(entries[3].mode == cmdline::Mode::off);
  CHECK_FALSE(entries[4].mode);
  CHECK_FALSE(entries[4].untranslated());
}

TEST_CASE("grub.cfg: the kernel counts as present by its name in /boot") {
  TempRoot root;
  root.file("/boot/vmlinuz-6.1", "")
      .file("/boot/grub/grub.cfg",
            "linux /vmlinuz-6.1 a\nlinux /@/boot/vmlinuz-6.1 a\nlinux /boot/vmlinuz-5.9 a\n");
  const auto entries = read_grub_config(root.system()).value().entries;
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].kernel_present);
  CHECK(entries[1].kernel_present);
  CHECK_FALSE(entries[2].kernel_present);
}

TEST_CASE("grub.cfg: what isn't this system's Linux is left out and named") {
  TempRoot root;
  root.file("/boot/grub/grub.cfg",
            "menuentry m {\n linux /boot/memtest86+x64.bin\n}\n"
            "### BEGIN /etc/grub.d/30_os-prober ###\n"
            "menuentry o {\n linux /boot/vmlinuz-4.1 root=/dev/sdb1\n}\n"
            "### END /etc/grub.d/30_os-prober ###\n");
  const auto inspection = read_grub_config(root.system()).value();
  CHECK(inspection.entries.empty());
  REQUIRE(inspection.notes.size() == 2);
  CHECK(inspection.notes[0] == root.path() +
                                   "/boot/grub/grub.cfg:2: '/boot/memtest86+x64.bin' is not "
                                   "Linux, left out");
  CHECK(inspection.notes[1].find("belongs to another system") != std::string::npos);
}

TEST_CASE("grub.cfg: custom.cfg beside it and variables of grubenv count") {
  TempRoot root;
  root.file("/boot/vmlinuz-6.1", "")
      .file("/boot/grub/grub.cfg", "linux /vmlinuz-6.1 iommu=pt $opts\n")
      .file("/boot/grub/custom.cfg", "menuentry mine {\n linux /vmlinuz-6.1 iommu=nopt\n}\n")
      .file("/boot/grub/grubenv", "# GRUB Environment Block\nopts=quiet\n####");
  const auto entries = judged(root.system());
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].mode == cmdline::Mode::passthrough);
  CHECK(entries[1].mode == cmdline::Mode::translated);
  CHECK(entries[1].entry.file == "/boot/grub/custom.cfg");
  CHECK(entries[1].entry.line == 2);
}

TEST_CASE("grub.cfg: missing is said, a dangling link or binary data is an error") {
  TempRoot root;
  root.directory("/boot/grub");
  CHECK(read_grub_config(root.system()).value().missing == "/boot/grub/grub.cfg");
  SECTION("dangling") {
    root.link("/boot/grub/grub.cfg", "/nowhere");
    CHECK(read_grub_config(root.system()).error().code == Errc::not_found);
  }
  SECTION("cyclic") {
    root.link("/boot/grub/grub.cfg", "grub.cfg");
    CHECK(read_grub_config(root.system()).error().code == Errc::malformed);
  }
  SECTION("binary") {
    root.file("/boot/grub/grub.cfg", std::string("linux /vmlinuz\n\0", 16));
    CHECK(read_grub_config(root.system()).error().text() ==
          "'" + root.path() + "/boot/grub/grub.cfg': line 2: binary data");
  }
  SECTION("a directory") {
    root.directory("/boot/grub/grub.cfg");
    CHECK_FALSE(read_grub_config(root.system()));
  }
}

TEST_CASE("grub.cfg: CRLF line ends aren't part of the last word") {
  TempRoot root;
  root.file("/boot/vmlinuz-6.1", "").file("/boot/grub/grub.cfg", "linux /vmlinuz-6.1 iommu=pt\r\n");
  CHECK(judged(root.system()).at(0).mode == cmdline::Mode::passthrough);
}

TEST_CASE("boots_xen: a hypervisor before Linux is told from other multiboot programs") {
  TempRoot root;
  root.file("/boot/grub/grub.cfg",
            "multiboot2 /boot/xen-4.17-amd64.gz\nmodule2 /boot/vmlinuz-6.1\n");
  CHECK(boots_xen(root.system(), grub_config_path).value());
  root.file("/boot/grub/grub.cfg", "multiboot /boot/memtest\n");
  CHECK_FALSE(boots_xen(root.system(), grub_config_path).value());
  root.remove("/boot/grub/grub.cfg");
  CHECK_FALSE(boots_xen(root.system(), grub_config_path).value());
}

TEST_CASE("grub.cfg: whatever might boot without our word is never passthrough") {
  TempRoot root;
  root.file("/boot/vmlinuz-6.1", "").file("/boot/grub/grubenv", "env=iommu=pt\n");
  const auto* entry =
      GENERATE("if [ a ]; then set o=iommu=pt; fi\nlinux /vmlinuz-6.1 $o\n",
               "set o=iommu=pt\nunset o\nlinux /vmlinuz-6.1 $o\n", "linux /vmlinuz-6.1 $env\n",
               "set env=\"$x iommu=nopt\"\nlinux /vmlinuz-6.1 iommu=pt $env\n",
               "function boot {\n linux /vmlinuz-6.1 iommu=pt $1\n}\nboot iommu=nopt\n",
               "for v in iommu=nopt; do linux /vmlinuz-6.1 iommu=pt $v; done\n",
               "set k=vmlinuz-6.1\nlinux /boot/$k iommu=pt\n");
  INFO(entry);
  root.file("/boot/grub/grub.cfg", entry);
  const auto entries = judged(root.system());
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].entry.kernel_present);
  CHECK_FALSE(entries[0].untranslated());
}

TEST_CASE("grub.cfg: what leads elsewhere is named, but for 41_custom's custom.cfg") {
  TempRoot root;
  const auto unfollowed = [&](const std::string& text) {
    root.file("/boot/grub/grub.cfg", text);
    return read_grub_config(root.system()).value().unfollowed.size();
  };
  CHECK(unfollowed("source ${config_directory}/custom.cfg\n") == 0);
  CHECK(unfollowed("source /boot/grub/other.cfg\n") == 1);
  CHECK(unfollowed("menuentry a {\n configfile /x\n}\n") == 1);
  CHECK(unfollowed("set l=linux\n$l /vmlinuz\n") == 1);
  CHECK(unfollowed("eval \"linux /vmlinuz\"\n") == 1);
  CHECK(unfollowed("menuentry u {\n chainloader /EFI/Linux/a.efi\n}\n") == 1);
}

TEST_CASE("grub.cfg: an image is found in a separate /boot, and a link tells its version") {
  TempRoot root;
  root.file("/boot/custom/vmlinuz-9", "").file("/boot/vmlinuz-4.19.0", "");
  root.link("/vmlinuz", "boot/vmlinuz-4.19.0");
  root.file("/boot/grub/grub.cfg", "linux /custom/vmlinuz-9 a\nlinux /vmlinuz b\n");
  const auto entries = read_grub_config(root.system()).value().entries;
  CHECK(entries.at(0).kernel_present);
  CHECK(entries.at(0).version == "9");
  CHECK(entries.at(1).kernel_present);
  CHECK(entries.at(1).version == "4.19.0");
}

TEST_CASE("lost_entries: a file with fewer or lesser entries can't replace the old one") {
  const auto entry = [](const std::string& kernel, bool present = true) {
    Entry made;
    made.kernel = kernel;
    made.kernel_present = present;
    made.has_initrd = true;
    made.command_lines = {"root=UUID=1 quiet"};
    return made;
  };
  const auto lost = [](std::vector<Entry> before, std::vector<Entry> after) {
    Inspection old;
    Inspection fresh;
    old.entries = std::move(before);
    fresh.entries = std::move(after);
    return lost_entries(old, fresh).has_value();
  };
  CHECK_FALSE(lost({entry("a")}, {entry("a"), entry("b")}));
  CHECK(lost({entry("a")}, {}));
  CHECK(lost({}, {}));
  CHECK(lost({entry("a"), entry("b")}, {entry("a")}));
  CHECK(lost({entry("a"), entry("b")}, {entry("a"), entry("a")}));
  CHECK(lost({entry("a")}, {entry("a", false)}));
  // A kernel that was removed meanwhile is no loss.
  CHECK_FALSE(lost({entry("a"), entry("gone", false)}, {entry("a")}));

  auto other_words = entry("a");
  other_words.command_lines = {"root=UUID=1 iommu=pt"};
  CHECK_FALSE(lost({entry("a")}, {other_words}));
  auto other_root = entry("a");
  other_root.command_lines = {"root=/dev/loop7 quiet"};
  CHECK(lost({entry("a")}, {other_root}));
  auto no_initrd = entry("a");
  no_initrd.has_initrd = false;
  CHECK(lost({entry("a")}, {no_initrd}));

  Inspection old;
  old.entries = {entry("a")};
  auto fresh = old;
  old.chain_loaded = 1;
  CHECK(lost_entries(old, fresh));
  fresh.chain_loaded = 1;
  old.has_password = true;
  CHECK(lost_entries(old, fresh));
  fresh.has_password = true;
  CHECK_FALSE(lost_entries(old, fresh));
}
