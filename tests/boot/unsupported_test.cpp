// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/unsupported.hpp"

#include "boot/vendor_root.hpp"
#include "support/catch.hpp"

using namespace peerpath;
using namespace peerpath::boot;
using namespace peerpath::test;

namespace {

/// ensure and audit both refuse, with all of these in what they say, and change nothing.
void check_refused(GrubRoot& machine, const std::vector<std::string>& parts) {
  const NothingChanged state(machine.root);
  for (const auto operation : {ensure, audit}) {
    const auto outcome = operation(machine.system, {}).value();
    CHECK(outcome.status == ExitStatus::unsupported);
    for (const auto& part : parts) {
      INFO(part << "\nin: " << outcome.messages.at(0));
      CHECK(said(outcome, part));
    }
  }
  CHECK(revert(machine.system, {}).value().result == "unchanged");
  state.check();
}

std::string make(const GrubRoot& machine, const std::string& place, const std::string& line) {
  return fmt::format("make '{}{}' read '{}'", machine.root.path(), place, line);
}

}  // namespace

TEST_CASE("extlinux: each APPEND line that lacks the word, as it should read") {
  GrubRoot machine;
  machine.root.file("/boot/extlinux/extlinux.conf",
                    "LABEL a\n  LINUX /vmlinuz\n  APPEND root=/dev/sda1 ro\n"
                    "LABEL b\n  append\troot=x iommu=pt\nLABEL c\n\tappend root=y -- 1\n");
  check_refused(
      machine,
      {"it boots by extlinux ('/boot/extlinux/extlinux.conf')",
       make(machine, "/boot/extlinux/extlinux.conf:3", "APPEND root=/dev/sda1 ro iommu=pt"),
       make(machine, "/boot/extlinux/extlinux.conf:7", "append root=y iommu=pt -- 1")});
  CHECK_FALSE(contains(ensure(machine.system, {}).value().messages.at(0), "extlinux.conf:5"));
}

TEST_CASE("extlinux: quotes are the kernel's; a contrary word; a place where it wouldn't work") {
  GrubRoot machine;
  machine.root.file("/boot/extlinux/extlinux.conf",
                    "APPEND \"a=b c\" d=\"e\"\nAPPEND root=x iommu=nopt\nAPPEND root=x f=\"g\n"
                    "# APPEND root=y\n");
  check_refused(machine, {make(machine, "/boot/extlinux/extlinux.conf:1",
                               "APPEND \"a=b c\" d=\"e\" iommu=pt"),
                          "/boot/extlinux/extlinux.conf:2' put 'iommu=pt' in the place of "
                          "'iommu=nopt', which contradicts it",
                          "/boot/extlinux/extlinux.conf:3': 'iommu=pt' at the end of these options "
                          "wouldn't work: an open quote takes it in"});
  CHECK_FALSE(contains(ensure(machine.system, {}).value().messages.at(0), "extlinux.conf:4"));
}

TEST_CASE("extlinux: entries without options, unless there are some for all") {
  GrubRoot machine;
  const std::string entries =
      "LABEL a\n  LINUX /vmlinuz-1\n  APPEND root=x iommu=pt\n"
      "LABEL b\n\tkernel /vmlinuz-2\n\tinitrd /i\n"
      "LABEL c\n  LINUX /vmlinuz-3\n  APPEND - \n";
  machine.root.file("/boot/extlinux/extlinux.conf", entries);
  check_refused(machine, {"after '" + machine.root.path() +
                              "/boot/extlinux/extlinux.conf:5' add the line 'APPEND iommu=pt'",
                          make(machine, "/boot/extlinux/extlinux.conf:9", "APPEND iommu=pt")});
  machine.root.file("/boot/extlinux/extlinux.conf", "APPEND root=y iommu=pt\n" + entries);
  CHECK_FALSE(contains(ensure(machine.system, {}).value().messages.at(0), "add the line"));
}

TEST_CASE("u-boot-menu: no settings yet, or settings that the menu hasn't got yet") {
  GrubRoot machine;
  machine.root.file("/boot/extlinux/extlinux.conf", "LABEL a\nLINUX /v\nAPPEND root=x\n")
      .file("/usr/sbin/u-boot-update", "");
  check_refused(machine,
                {"it boots by u-boot-menu ('/usr/sbin/u-boot-update')",
                 "U_BOOT_PARAMETERS=\"ro quiet iommu=pt\"' (your own words for 'ro quiet') "
                 "to '/etc/default/u-boot'; run 'u-boot-update'"});
  machine.root.file("/etc/default/u-boot", "U_BOOT_PARAMETERS=\"ro iommu=pt\"\n");
  check_refused(machine, {"all its lines have the word already; run 'u-boot-update', unless that "
                          "was done since"});
}

TEST_CASE("extlinux: nothing lacks it, or there's no such line → that's what is said") {
  GrubRoot machine;
  machine.root.file("/boot/extlinux/extlinux.conf", "APPEND root=x iommu=pt\n");
  check_refused(machine, {"all its lines have the word already"});
  machine.root.file("/boot/extlinux/extlinux.conf", "LABEL a\n  LINUX /vmlinuz\n");
  check_refused(machine, {"add a line 'APPEND iommu=pt' to each of its entries"});
}

TEST_CASE("u-boot-menu: the assignment with its present value") {
  GrubRoot machine;
  std::string file = "/etc/default/u-boot";
  std::string before = "U_BOOT_PARAMETERS=\"ro quiet\"";
  std::string after = "U_BOOT_PARAMETERS=\"ro quiet iommu=pt\"";
  SECTION("in /etc/default") {}
  SECTION("in conf.d") {
    file = "/etc/u-boot-menu/conf.d/50-x.conf";
  }
  SECTION("single quotes") {
    before = "U_BOOT_PARAMETERS='ro'";
    after = "U_BOOT_PARAMETERS='ro iommu=pt'";
  }
  SECTION("none") {
    before = "U_BOOT_PARAMETERS=ro";
    after = "U_BOOT_PARAMETERS=\"ro iommu=pt\"";
  }
  SECTION("computed") {
    before = "U_BOOT_PARAMETERS=\"$(cat \"/etc/kernel/cmdline\")\"";
    after = "U_BOOT_PARAMETERS=\"$(cat \"/etc/kernel/cmdline\") iommu=pt\"";
  }
  machine.root.file(file, "#U_BOOT_PARAMETERS=\"x\"\n" + before + "\n");
  // It's what u-boot-menu makes.
  machine.root.file("/boot/extlinux/extlinux.conf", "append x\n");
  check_refused(machine, {"it boots by u-boot-menu", make(machine, file + ":2", after),
                          "run 'u-boot-update'"});
}

TEST_CASE("u-boot-menu: no value, no assignment, no quotes, a comment with quotes") {
  GrubRoot machine;
  const std::string file = "/etc/default/u-boot";
  const auto [before, after] = GENERATE(table<std::string, std::string>({
      {"U_BOOT_PARAMETERS=", "U_BOOT_PARAMETERS=\"iommu=pt\""},
      {"U_BOOT_PARAMETERS=ro", "U_BOOT_PARAMETERS=\"ro iommu=pt\""},
      {"U_BOOT_PARAMETERS=\"ro\" # say \"x\"", "U_BOOT_PARAMETERS=\"ro iommu=pt\" # say \"x\""},
      {"U_BOOT_PARAMETERS", ""},
  }));
  machine.root.file(file, before + "\n");
  check_refused(machine, {after.empty() ? "add the line 'U_BOOT_PARAMETERS=\"ro quiet iommu=pt\"'"
                                        : make(machine, file + ":1", after)});
}

TEST_CASE("u-boot-menu: nothing assigned → the line to add") {
  GrubRoot machine;
  machine.root.file("/etc/default/u-boot", "#U_BOOT_PARAMETERS=\"x\"\n");
  check_refused(machine, {"add the line 'U_BOOT_PARAMETERS=\"ro quiet iommu=pt\"'"});
}

TEST_CASE("rEFInd: each quoted string of options, and those of manual stanzas") {
  GrubRoot machine;
  machine.root.file("/boot/refind_linux.conf",
                    "# \"c\" \"c\"\n\"Boot standard\" \"root=x ro\"\n\"Good\" \"root=x iommu=pt\"\n"
                    "\"Single \"\"user\"\"\"  \"root=x ro single\"\n\n");
  machine.root.file("/boot/efi/EFI/refind/refind.conf",
                    "menuentry x {\n  options \"root=z\"\n  loader /vmlinuz\n}\n");
  check_refused(
      machine,
      {"it boots by rEFInd",
       make(machine, "/boot/refind_linux.conf:2", "\"Boot standard\" \"root=x ro iommu=pt\""),
       make(machine, "/boot/refind_linux.conf:4",
            "\"Single \"\"user\"\"\"  \"root=x ro single iommu=pt\""),
       make(machine, "/boot/efi/EFI/refind/refind.conf:2", "options \"root=z iommu=pt\"")});
  const auto all = ensure(machine.system, {}).value().messages.at(0);
  CHECK_FALSE(contains(all, "refind_linux.conf:1'"));
  CHECK_FALSE(contains(all, "refind_linux.conf:3'"));
}

TEST_CASE("zipl: the parameters, and that it must be run") {
  GrubRoot machine;
  machine.root.file("/etc/zipl.conf",
                    "[defaultboot]\ndefault=linux\n[linux]\n  parameters = \"root=x\"\n"
                    "parameters=\"root=y iommu=nopt\"\n");
  check_refused(machine,
                {make(machine, "/etc/zipl.conf:4", "parameters = \"root=x iommu=pt\""),
                 "/etc/zipl.conf:5' put 'iommu=pt' in the place of 'iommu=nopt'", "run 'zipl'"});
}

TEST_CASE("unsupported: terminal escapes in such files aren't printed") {
  GrubRoot machine;
  machine.root.file("/boot/extlinux/extlinux.conf", "append root=\x1b[2J\n");
  check_refused(machine, {"append root=\\x1b[2J iommu=pt"});
}
