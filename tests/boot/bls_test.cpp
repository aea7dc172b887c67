// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/bls.hpp"

#include "boot/apply.hpp"
#include "boot/bls_root.hpp"
#include "boot/operations.hpp"
#include "support/catch.hpp"
#include "support/snapshot.hpp"

#include <algorithm>
#include <filesystem>

using namespace peerpath;
using namespace peerpath::boot;
using peerpath::test::BlsRoot;
using peerpath::test::differences;
using peerpath::test::snapshot;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

bool said(const Outcome& outcome, std::string_view part) {
  return std::ranges::any_of(outcome.messages,
                             [&](const std::string& message) { return contains(message, part); });
}

/// ensure makes every entry passthrough, changes nothing the second time, and revert leaves every
/// byte, mode, owner and time as before.
void check_round_trip(BlsRoot& machine) {
  const auto before = snapshot(machine.root.path());
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  CHECK(outcome.result == "changed");
  REQUIRE_FALSE(outcome.entries.empty());
  for (const auto& entry : outcome.entries) {
    INFO(entry.entry.file);
    CHECK(entry.mode == cmdline::Mode::passthrough);
  }
  CHECK(audit(machine.system, {}).value().status == ExitStatus::good);
  const auto after = snapshot(machine.root.path());
  CHECK(ensure(machine.system, {}).value().result == "unchanged");
  CHECK(differences(after, snapshot(machine.root.path())) == "");
  CHECK(revert(machine.system, {}).value().status == ExitStatus::good);
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

}  // namespace

TEST_CASE("bls: every entry gets the word at the end of its options, and loses it again") {
  BlsRoot machine;
  std::string expected = "options root=UUID=11-22 ro quiet iommu=pt\n";
  SECTION("as Fedora writes them") {}
  SECTION("blanks at the end stay behind it") {
    machine.kernel(BlsRoot::first, "root=x  ");
    expected = "options root=x iommu=pt  \n";
  }
  SECTION("tabs") {
    machine.entry(BlsRoot::first, "options\troot=x\tro\n");
    expected = "options\troot=x\tro\tiommu=pt\n";
  }
  SECTION("CRLF") {
    machine.entry(BlsRoot::first, "options root=x\r\n");
    expected = "options root=x iommu=pt\r\n";
  }
  SECTION("GRUB's variable") {
    machine.kernel(BlsRoot::first, "$kernelopts");
    expected = "options $kernelopts iommu=pt\n";
  }
  SECTION("a variable that nobody sets") {
    machine.kernel(BlsRoot::first, "$kernelopts $tuned_params");
    expected = "options $kernelopts $tuned_params iommu=pt\n";
  }
  SECTION("no options at all: GRUB's own variable keeps its place") {
    machine.entry(BlsRoot::first, "");
    expected = "options $default_kernelopts iommu=pt\n";
  }
  SECTION("empty options") {
    machine.entry(BlsRoot::first, "options\n");
    expected = "options $default_kernelopts iommu=pt\n";
  }
  SECTION("words for init stay behind it") {
    machine.kernel(BlsRoot::first, "root=x -- single");
    expected = "options root=x iommu=pt -- single\n";
  }
  SECTION("nothing but words for init") {
    machine.kernel(BlsRoot::first, "-- single");
    expected = "options iommu=pt -- single\n";
  }
  SECTION("quotes with blanks and patterns") {
    machine.kernel(BlsRoot::first, R"(root=x dyndbg=\"file  pciehp* +p\")");
    expected = "options root=x dyndbg=\\\"file  pciehp* +p\\\" iommu=pt\n";
  }
  SECTION("words that look like ours") {
    machine.kernel(BlsRoot::first, "xiommu=pt iommu.passthrough_x=1 amd_iommu=on");
    expected = "options xiommu=pt iommu.passthrough_x=1 amd_iommu=on iommu=pt\n";
  }
  SECTION("a file without an end of line") {
    machine.root.file(BlsRoot::path_of(BlsRoot::first),
                      "linux /vmlinuz-6.12.0-55.el10.x86_64\noptions root=x");
    expected = "options root=x iommu=pt";
  }
  const auto before = snapshot(machine.root.path());
  REQUIRE(ensure(machine.system, {}));
  CHECK(contains(machine.text(), expected));
  REQUIRE(revert(machine.system, {}));
  REQUIRE(differences(before, snapshot(machine.root.path())) == "");
  check_round_trip(machine);
}

TEST_CASE("bls: GRUB reads the first of several options lines, systemd-boot all of them") {
  BlsRoot machine;
  machine.entry(BlsRoot::first, "options root=x\noptions iommu=pt\n");
  SECTION("GRUB: the word in the second line has no effect") {
    CHECK(audit(machine.system, {.kernel = BlsRoot::first}).value().status ==
          ExitStatus::check_failed);
    REQUIRE(ensure(machine.system, {}));
    CHECK(contains(machine.text(), "options root=x iommu=pt\noptions iommu=pt\n"));
  }
  SECTION("systemd-boot: it's in force") {
    machine.root.remove("/boot/grub2").remove("/etc/grub.d");
    CHECK(audit(machine.system, {.kernel = BlsRoot::first}).value().status == ExitStatus::good);
    REQUIRE(ensure(machine.system, {}));
    CHECK(contains(machine.text(), "options root=x\noptions iommu=pt\n"));
    // It was there before us.
    REQUIRE(revert(machine.system, {}));
    CHECK(contains(machine.text(), "options root=x\noptions iommu=pt\n"));
  }
  SECTION("both are installed: what only one of them heeds proves nothing") {
    machine.root.file("/boot/efi/EFI/systemd/systemd-bootx64.efi", "");
    const auto outcome = audit(machine.system, {.kernel = BlsRoot::first}).value();
    CHECK(outcome.status == ExitStatus::unknown);
  }
}

TEST_CASE("bls: entries that aren't ours to change") {
  BlsRoot machine;
  std::string path;
  std::string why;
  SECTION("a rescue entry") {
    path = std::string("/boot/loader/entries/") + BlsRoot::id + "-0-rescue.conf";
    machine.root.file(path, "version 0-rescue-x\nlinux /vmlinuz-0-rescue\noptions root=x\n");
    why = "a rescue entry";
  }
  SECTION("boom's") {
    path = "/boot/loader/entries/abc-def-6.12.0.conf";
    machine.root.file(path, "#OsIdentifier: 123\nlinux /vmlinuz-6.12.0\noptions root=x\n");
    why = "boom's own";
  }
  SECTION("a memory test") {
    path = "/boot/loader/entries/memtest.conf";
    machine.root.file(path, "title Memory\nlinux /memtest86+.bin\n");
    why = "not Linux";
  }
  const auto before = machine.system.read(path).value();
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  CHECK(said(outcome, why));
  CHECK(machine.system.read(path).value() == before);
}

TEST_CASE("bls: an entry for something else than Linux → nothing is proven") {
  BlsRoot machine;
  machine.root.file("/boot/loader/entries/other.conf", "title other\nefi /EFI/other.efi\n");
  CHECK(ensure(machine.system, {}).value().status == ExitStatus::unknown);
}

TEST_CASE("bls: a contrary word → conflict, nothing is changed, unless it's forced") {
  BlsRoot machine;
  std::size_t line = 5;
  std::string file = BlsRoot::path_of(BlsRoot::second);
  SECTION("in an entry") {
    machine.kernel(BlsRoot::second, "root=x iommu=nopt");
  }
  SECTION("in /etc/kernel/cmdline") {
    machine.root.file("/etc/kernel/cmdline", "# comment\n\nroot=x iommu.passthrough=0\n");
    file = "/etc/kernel/cmdline";
    line = 3;
  }
  const auto before = snapshot(machine.root.path());
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::conflict);
  REQUIRE(outcome.conflict);
  CHECK(outcome.conflict->file == file);
  CHECK(outcome.conflict->line == line);
  CHECK(differences(before, snapshot(machine.root.path())) == "");

  CHECK(ensure(machine.system, {.force = true}).value().status == ExitStatus::good);
  CHECK(contains(machine.system.read(file).value(), " iommu=pt"));
  REQUIRE(revert(machine.system, {}));
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

TEST_CASE("bls: a contrary word that GRUB's environment holds → conflict") {
  BlsRoot machine;
  machine.root.file("/boot/grub2/grubenv",
                    "# GRUB Environment Block\nkernelopts=root=x "
                    "iommu=nopt\n#######\n");
  machine.kernel(BlsRoot::first, "$kernelopts");
  CHECK(ensure(machine.system, {}).value().status == ExitStatus::conflict);
}

TEST_CASE("bls: an open quote would swallow the word → unsupported, nothing is changed") {
  BlsRoot machine;
  machine.root.remove("/boot/grub2").remove("/etc/grub.d");
  machine.kernel(BlsRoot::first, "root=x foo=\"bar");
  const auto before = snapshot(machine.root.path());
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == Errc::unsupported);
  CHECK(contains(outcome.error().text(), BlsRoot::path_of(BlsRoot::first) + ":5"));
  CHECK(contains(outcome.error().text(), "wouldn't work: an open quote takes it in"));
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

TEST_CASE("bls: /etc/kernel/cmdline gets the word, keeps its time, and is never created") {
  BlsRoot machine;
  SECTION("there") {
    const auto* text = GENERATE("root=x ro\n", "root=x ro", "root=x\nmore\n", "# c\nroot=x\r\n");
    machine.root.file("/etc/kernel/cmdline", text);
    REQUIRE(machine.system.set_mtime("/etc/kernel/cmdline", {1000, 7}));
    const auto before = snapshot(machine.root.path());
    REQUIRE(ensure(machine.system, {}));
    const auto now = machine.system.read("/etc/kernel/cmdline").value();
    CHECK(contains(now, " iommu=pt"));
    CHECK(now.size() == std::string(text).size() + 9);
    CHECK(machine.system.info("/etc/kernel/cmdline").value().mtime.tv_sec == 1000);
    CHECK(machine.system.info("/etc/kernel/cmdline").value().mtime.tv_nsec == 7);
    REQUIRE(revert(machine.system, {}));
    CHECK(differences(before, snapshot(machine.root.path())) == "");
  }
  SECTION("without a word in it") {
    const auto* text = GENERATE("", "\n", "# comment", "# comment\n\n");
    machine.root.file("/etc/kernel/cmdline", text);
    const auto before = snapshot(machine.root.path());
    REQUIRE(ensure(machine.system, {}));
    CHECK(machine.system.read("/etc/kernel/cmdline").value() == "iommu=pt\n" + std::string(text));
    CHECK_FALSE(ensure(machine.system, {}).value().changed);
    REQUIRE(revert(machine.system, {}));
    CHECK(differences(before, snapshot(machine.root.path())) == "");
  }
  SECTION("a line in which the word wouldn't work") {
    const auto text =
        GENERATE(std::string("# c\nroot=x dyndbg=\"a b\n"), std::string("# c\nroot=x a\0b\n", 15),
                 "# c\nroot=x " + std::string(2047, 'a'));
    machine.root.file("/etc/kernel/cmdline", text);
    const auto before = snapshot(machine.root.path());
    const auto outcome = ensure(machine.system, {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == Errc::unsupported);
    CHECK(contains(outcome.error().text(), "/etc/kernel/cmdline': line 2: "));
    CHECK(differences(before, snapshot(machine.root.path())) == "");
  }
  SECTION("not there") {
    REQUIRE(ensure(machine.system, {}));
    CHECK_FALSE(machine.system.exists("/etc/kernel"));
  }
}

TEST_CASE("bls: /etc/kernel/cmdline with several lines → all of them count") {
  BlsRoot machine;
  std::string text;
  SECTION("a contrary word in a later one") {
    text = "root=x ro\niommu=nopt\n";
  }
  SECTION("in a comment, which older versions of systemd's plugin take for words") {
    text = "root=x ro\n# iommu=nopt\n";
  }
  if (!text.empty()) {
    machine.root.file("/etc/kernel/cmdline", text);
    const auto before = snapshot(machine.root.path());
    const auto outcome = ensure(machine.system, {}).value();
    REQUIRE(outcome.conflict);
    CHECK(outcome.conflict->file == "/etc/kernel/cmdline");
    CHECK(outcome.conflict->line == 2);
    CHECK(differences(before, snapshot(machine.root.path())) == "");
    REQUIRE(ensure(machine.system, {.force = true}).has_value() == (text[10] != '#'));
    return;
  }
  SECTION("our word is there already") {
    machine.root.file("/etc/kernel/cmdline", "root=x\niommu=pt\n");
    REQUIRE(ensure(machine.system, {}));
    CHECK(machine.system.read("/etc/kernel/cmdline").value() == "root=x\niommu=pt\n");
    REQUIRE(revert(machine.system, {}));
    CHECK(machine.system.read("/etc/kernel/cmdline").value() == "root=x\niommu=pt\n");
  }
  SECTION("words for init begin in the first") {
    machine.root.file("/etc/kernel/cmdline", "root=x -- a\nb\n");
    check_round_trip(machine);
  }
}

TEST_CASE("bls: systemd-boot takes quotes around all options away") {
  BlsRoot machine;
  machine.root.remove("/boot/grub2").remove("/etc/grub.d");
  machine.entry(BlsRoot::first, "options \"root=x ro\"\n");
  SECTION("the word goes inside") {
    REQUIRE(ensure(machine.system, {}));
    CHECK(contains(machine.text(), "options \"root=x ro iommu=pt\"\n"));
    REQUIRE(revert(machine.system, {}));
    check_round_trip(machine);
  }
  SECTION("a contrary word inside is seen") {
    machine.entry(BlsRoot::first, "options \"root=x iommu=nopt\"\n");
    CHECK(ensure(machine.system, {}).value().status == ExitStatus::conflict);
  }
  SECTION("single ones only newer versions take away") {
    machine.entry(BlsRoot::first, "options 'iommu=pt'\n");
    CHECK(audit(machine.system, {.kernel = BlsRoot::first}).value().status == ExitStatus::unknown);
  }
}

TEST_CASE("bls: --force under systemd-boot → the word comes after all options") {
  BlsRoot machine;
  machine.root.remove("/boot/grub2").remove("/etc/grub.d");
  machine.entry(BlsRoot::first, "options root=x\noptions iommu=nopt\n");
  CHECK(ensure(machine.system, {.force = true}).value().status == ExitStatus::good);
  CHECK(contains(machine.text(), "options root=x\noptions iommu=nopt iommu=pt\n"));
}

TEST_CASE("bls: a boot counter that's taken away meanwhile → the administrator's word stays") {
  BlsRoot machine;
  machine.root.remove("/boot/grub2").remove("/etc/grub.d");
  const std::string text = "linux /vmlinuz-6.12.0-55.el10.x86_64\noptions ro iommu=pt\n";
  const auto* counter = GENERATE("+3", "+2-1");
  machine.root.file(std::string("/boot/loader/entries/new") + counter + ".conf", text);
  REQUIRE(ensure(machine.system, {}));
  machine.root.remove(std::string("/boot/loader/entries/new") + counter + ".conf");
  machine.root.file("/boot/loader/entries/new.conf", text);
  REQUIRE(revert(machine.system, {}));
  CHECK(machine.system.read("/boot/loader/entries/new.conf").value() == text);
}

TEST_CASE("bls: an entry that's a link to another → one file, one edit") {
  BlsRoot machine;
  const auto target = std::string(BlsRoot::id) + "-" + BlsRoot::first + ".conf";
  machine.root.link("/boot/loader/entries/0default.conf", target);
  machine.root.link("/boot/loader/entries/zlast.conf", "/boot/loader/entries/" + target);
  check_round_trip(machine);
}

TEST_CASE("bls: a name that isn't UTF-8 → the administrator's word stays there") {
  BlsRoot machine;
  machine.root.file("/boot/loader/entries/caf\xe9.conf",
                    "linux /vmlinuz-6.12.0-55.el10.x86_64\noptions ro iommu=pt\n");
  check_round_trip(machine);
}

TEST_CASE("bls: the healing script was switched off → said, and left so") {
  BlsRoot machine;
  REQUIRE(ensure(machine.system, {}));
  CHECK_FALSE(said(audit(machine.system, {}).value(), "not executable"));
  std::filesystem::permissions(machine.root.path() + "/etc/grub.d/99_peerpath",
                               std::filesystem::perms::owner_read);
  const auto outcome = audit(machine.system, {}).value();
  CHECK(said(outcome, "/etc/grub.d/99_peerpath': not executable"));
  CHECK(outcome.status == ExitStatus::good);
  CHECK_FALSE(ensure(machine.system, {}).value().changed);
}

TEST_CASE("bls: a quote that GRUB can't parse → said so") {
  BlsRoot machine;
  machine.entry(BlsRoot::first, "options root=x 'y\n");
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  INFO(outcome.error().text());
  CHECK(contains(outcome.error().text(), "GRUB can't parse them: "));
}

TEST_CASE(
    "bls: an entry that changed or went since the plan was made → conflict, and it stays so") {
  BlsRoot machine;
  const auto plan = Bls().plan(machine.system, {cmdline::Arch::x86_64});
  REQUIRE(plan);
  const auto path = BlsRoot::path_of(BlsRoot::second);
  SECTION("changed") {
    machine.root.file(path, machine.system.read(path).value() + "# by somebody else\n");
  }
  SECTION("gone") {
    machine.root.remove(path);
  }
  const auto before = snapshot(machine.root.path());
  const auto applied = apply(machine.system, *plan, {"bls"}, false);
  REQUIRE_FALSE(applied);
  CHECK(applied.error().code == Errc::conflict);
  CHECK(contains(applied.error().text(), path + "': changed by somebody else"));
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

TEST_CASE("bls: what GRUB doesn't read of an entry → it's no use to put the word there") {
  BlsRoot machine;
  const auto* lines =
      GENERATE("\noptions root=x\n", "key\noptions root=x\n", "options\troot=x ro\n");
  machine.entry(BlsRoot::first, lines);
  const auto before = snapshot(machine.root.path());
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == Errc::unsupported);
  CHECK(contains(outcome.error().text(), "GRUB doesn't read"));
  CHECK(differences(before, snapshot(machine.root.path())) == "");
  CHECK(audit(machine.system, {.kernel = BlsRoot::first}).value().status != ExitStatus::good);
}

TEST_CASE("bls: names and paths that systemd-boot takes, too") {
  BlsRoot machine;
  machine.root.remove("/boot/grub2").remove("/etc/grub.d");
  REQUIRE(ensure(machine.system, {}));
  CHECK(audit(machine.system, {}).value().status == ExitStatus::good);
  machine.root.file("/boot/arch/vmlinuz", "kernel");
  auto status = ExitStatus::check_failed;
  SECTION("a name in capitals") {
    machine.root.file("/boot/loader/entries/Y.CONF", "linux /arch/vmlinuz\noptions root=x\n");
  }
  SECTION("no slash before the kernel") {
    machine.root.file("/boot/loader/entries/y.conf", "linux arch/vmlinuz\noptions root=x\n");
  }
  SECTION("backslashes") {
    machine.root.file("/boot/loader/entries/y.conf", "linux \\arch\\vmlinuz\noptions root=x\n");
  }
  SECTION("two kernels") {
    machine.root.file("/boot/loader/entries/y.conf",
                      "linux /gone\nlinux /arch/vmlinuz\noptions root=x\n");
    status = ExitStatus::unknown;
  }
  CHECK(audit(machine.system, {}).value().status == status);
}

TEST_CASE("bls: GRUB's variables that can't be known → could not tell") {
  BlsRoot machine;
  machine.kernel(BlsRoot::first, "iommu=pt $kernelopts");
  machine.kernel(BlsRoot::second, "iommu=pt $kernelopts");
  SECTION("its environment block leads to an ESP that isn't mounted") {
    machine.root.link("/boot/grub2/grubenv", "../efi/EFI/redhat/grubenv");
  }
  SECTION("there's no grub.cfg yet") {
    machine.root.remove("/boot/grub2/grub.cfg");
    machine.kernel(BlsRoot::first, "");
    machine.entry(BlsRoot::first, "");
    REQUIRE(ensure(machine.system, {}));
    CHECK(contains(machine.text(), "options $default_kernelopts iommu=pt\n"));
  }
  CHECK(audit(machine.system, {}).value().status == ExitStatus::unknown);
}

TEST_CASE("audit: other menus that the firmware may start → never good because of the first") {
  BlsRoot machine;
  REQUIRE(ensure(machine.system, {}));
  REQUIRE(audit(machine.system, {}).value().status == ExitStatus::good);
  auto status = ExitStatus::unknown;
  SECTION("GRUB's on the ESP") {
    machine.root.file("/boot/efi/EFI/redhat/grub.cfg",
                      "menuentry x {\n linux /vmlinuz-6.12.0-55.el10.x86_64 root=x\n}\n");
    status = ExitStatus::check_failed;
  }
  SECTION("rEFInd's") {
    machine.root.file("/boot/efi/EFI/refind/refind.conf", "");
  }
  SECTION("syslinux's") {
    machine.root.file("/boot/syslinux/syslinux.cfg", "");
  }
  SECTION("entries where we can't look") {
    machine.root.link("/efi", "efi");
  }
  SECTION("an image that can't be read") {
    machine.root.file("/boot/efi/EFI/Linux/a.efi", "no image");
  }
  CHECK(audit(machine.system, {}).value().status == status);
}

TEST_CASE("bls: an entry that isn't set up has the administrator's word → it stays with him") {
  BlsRoot machine;
  const std::string path = "/boot/loader/entries/x.conf";
  std::string text = "title x\noptions ro iommu=pt\n";
  SECTION("no kernel") {}
  SECTION("another program") {
    text += "linux /EFI/tools/memtest.efi\n";
  }
  SECTION("boom's") {
    text = "#OsIdentifier: 1\nlinux /vmlinuz\n" + text;
  }
  machine.root.file(path, text);
  const auto before = snapshot(machine.root.path());
  REQUIRE(ensure(machine.system, {}).value().changed);
  REQUIRE(revert(machine.system, {}));
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

TEST_CASE("bls: the script that heals after grub2-mkconfig") {
  BlsRoot machine;
  SECTION("with GRUB: executable, silent, always successful") {
    REQUIRE(ensure(machine.system, {}));
    CHECK(machine.system.info("/etc/grub.d/99_peerpath").value().mode == 0755);
    const auto script = machine.system.read("/etc/grub.d/99_peerpath").value();
    CHECK(contains(script, ">/dev/null 2>&1"));
    CHECK(script.ends_with("exit 0\n"));
  }
  SECTION("mkconfig wrote the options anew: the next run mends them, revert takes all away") {
    REQUIRE(ensure(machine.system, {}));
    machine.kernel(BlsRoot::first, "root=UUID=11-22 ro rhgb");
    CHECK(ensure(machine.system, {}).value().result == "changed");
    CHECK(contains(machine.text(), "ro rhgb iommu=pt\n"));
    REQUIRE(revert(machine.system, {}));
    CHECK(contains(machine.text(), "ro rhgb\n"));
  }
  SECTION("without GRUB: none") {
    machine.root.remove("/boot/grub2").remove("/etc/grub.d");
    REQUIRE(ensure(machine.system, {}));
    CHECK_FALSE(machine.system.exists("/etc/grub.d/99_peerpath"));
  }
  SECTION("somebody else's file of that name: an error, nothing changed") {
    machine.root.file("/etc/grub.d/99_peerpath", "#!/bin/sh\n", 0755);
    const auto before = snapshot(machine.root.path());
    REQUIRE_FALSE(ensure(machine.system, {}));
    CHECK(differences(before, snapshot(machine.root.path())) == "");
  }
}

TEST_CASE("bls: words that were there before us stay, words that came after us go") {
  BlsRoot machine;
  machine.kernel(BlsRoot::second, "root=x iommu=pt quiet");
  const auto theirs = machine.text(BlsRoot::second);
  REQUIRE(ensure(machine.system, {}));
  // A new kernel's entry, made from a command line that had our word.
  machine.kernel("6.13.0-1", "root=x iommu=pt quiet");
  // grubby and mkconfig write all words of one entry into another.
  machine.kernel(BlsRoot::first, "root=x iommu=pt flattened");
  REQUIRE(revert(machine.system, {}));
  CHECK(machine.text(BlsRoot::second) == theirs);
  CHECK(contains(machine.text("6.13.0-1"), "options root=x quiet\n"));
  CHECK(contains(machine.text(), "options root=x flattened\n"));
}

TEST_CASE("bls: systemd-boot's partitions, each directory once") {
  BlsRoot machine;
  machine.root.remove("/boot").remove("/etc/grub.d");
  const auto* partition = GENERATE("/boot", "/efi", "/boot/efi");
  machine.root.file(std::string(partition) + "/id/6.1.0/linux", "kernel");
  machine.root.file(std::string(partition) + "/loader/entries/id-6.1.0+3-0.conf",
                    "title Debian\nversion 6.1.0-35-amd64\nlinux /id/6.1.0/linux\n"
                    "options root=x\ninitrd /id/6.1.0/initrd.img\n");
  if (std::string_view(partition) != "/efi")
    machine.root.link("/efi", std::string(partition).substr(1));
  const auto outcome = audit(machine.system, {}).value();
  REQUIRE(outcome.entries.size() == 1);
  CHECK(outcome.entries.at(0).entry.kernel_present);
  CHECK(outcome.entries.at(0).entry.version == "6.1.0-35-amd64");
  CHECK(outcome.status == ExitStatus::check_failed);
  check_round_trip(machine);
}

TEST_CASE("bls: an entry that can't be read is an error that names it, nothing is changed") {
  BlsRoot machine;
  const auto path = BlsRoot::path_of(BlsRoot::second);
  machine.root.remove(path);
  SECTION("a dangling link") {
    machine.root.link(path, "nowhere");
  }
  SECTION("a link to itself") {
    machine.root.link(path, path);
  }
  SECTION("a directory") {
    machine.root.directory(path);
  }
  const auto before = snapshot(machine.root.path());
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(contains(outcome.error().text(), path));
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

TEST_CASE("bls: a link to an entry is followed and stays a link") {
  BlsRoot machine;
  const auto path = BlsRoot::path_of(BlsRoot::first);
  machine.root.file("/boot/real.conf", machine.text());
  machine.root.remove(path).link(path, "../../real.conf");
  check_round_trip(machine);
}

TEST_CASE("bls: revert without a ledger leaves the words, which may be the administrator's") {
  BlsRoot machine;
  REQUIRE(ensure(machine.system, {}));
  machine.root.remove("/var/lib/peerpath");
  REQUIRE(revert(machine.system, {}));
  CHECK(contains(machine.text(), " iommu=pt\n"));
  CHECK_FALSE(machine.system.exists("/etc/grub.d/99_peerpath"));
}

TEST_CASE("bls: a boot partition that isn't mounted proves nothing where systemd-boot reads it") {
  BlsRoot machine;
  Options options;
  options.unmounted = {"'/dev/sdb1' isn't mounted"};
  SECTION("GRUB reads /boot") {
    CHECK(ensure(machine.system, options).value().status == ExitStatus::good);
  }
  SECTION("systemd-boot") {
    machine.root.remove("/boot/grub2");
    CHECK(ensure(machine.system, options).value().status == ExitStatus::unknown);
  }
  CHECK(said(audit(machine.system, options).value(), "'/dev/sdb1' isn't mounted"));
}
