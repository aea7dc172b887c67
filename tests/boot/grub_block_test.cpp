// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/grub_root.hpp"
#include "boot/operations.hpp"
#include "support/catch.hpp"
#include "support/snapshot.hpp"

#include <algorithm>

using namespace peerpath;
using namespace peerpath::boot;
using peerpath::test::differences;
using peerpath::test::elf_header;
using peerpath::test::failed;
using peerpath::test::FakeSystem;
using peerpath::test::grub_config;
using peerpath::test::snapshot;
using peerpath::test::succeeded;
using peerpath::test::TempRoot;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// A root as openSUSE's classic GRUB, RHEL 7's and Arch's are alike: grub2-mkconfig reads
/// /etc/default/grub alone. It's a function of the test's that evaluates the settings with the real
/// shell.
struct ClassicRoot {
  TempRoot root;
  FakeSystem system{root.path()};
  std::vector<std::string> kernels{"5.14.21-default", "5.3.18-default"};

  ClassicRoot() {
    root.file("/etc/os-release", "ID=opensuse-leap\n").file("/bin/sh", elf_header(62), 0755);
    root.file("/usr/sbin/grub2-mkconfig", ". ${sysconfdir}/default/grub\n", 0755);
    root.directory("/var/lib").directory("/boot/grub2");
    for (const auto& kernel : kernels)
      root.file("/boot/vmlinuz-" + kernel, "kernel");
    settings(
        "GRUB_DEFAULT=saved\nGRUB_CMDLINE_LINUX_DEFAULT=\"splash=silent quiet\"\n"
        "GRUB_CMDLINE_LINUX=\"\"\n");
    system.on("grub2-probe", succeeded("/dev/vda1\n"));
    system.on("/usr/sbin/grub2-mkconfig",
              [this](const Command& command) { return generate(command.argv.back()); });
  }

  CommandResult generate(const std::string& path) {
    const auto now = evaluate_grub_settings(system, std::nullopt, SettingsFiles::main_alone);
    if (!now) return failed(1, now.error().text() + "\n");
    root.file(path, grub_config(kernels, now->linux_all, now->linux_default), 0600);
    return succeeded();
  }

  void settings(const std::string& text) {
    root.file("/etc/default/grub", text);
    REQUIRE(generate("/boot/grub2/grub.cfg").status == 0);
  }

  [[nodiscard]] std::string settings() { return system.read("/etc/default/grub").value(); }
  [[nodiscard]] std::string config() { return system.read("/boot/grub2/grub.cfg").value(); }
};

void check_round_trip(ClassicRoot& machine) {
  const auto before = snapshot(machine.root.path());
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.boot_loader == "grub-settings");
  CHECK(outcome.result == "changed");
  CHECK(outcome.status == ExitStatus::good);
  REQUIRE(outcome.entries.size() == 5);
  for (const auto& entry : outcome.entries) {
    INFO(entry.entry.title);
    CHECK(entry.mode == cmdline::Mode::passthrough);
  }
  const auto after = snapshot(machine.root.path());
  CHECK(ensure(machine.system, {}).value().result == "unchanged");
  CHECK(differences(after, snapshot(machine.root.path())) == "");
  CHECK(revert(machine.system, {}).value().status == ExitStatus::good);
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

}  // namespace

TEST_CASE("grub-settings: one marked block, whatever the administrator's lines look like") {
  ClassicRoot machine;
  SECTION("as it is") {}
  SECTION("single quotes (uwzis/GPU-Passthrough-Manager#50)") {
    machine.settings("GRUB_CMDLINE_LINUX='rhgb quiet'\n");
  }
  SECTION("no quotes, no end of line") {
    machine.settings("GRUB_CMDLINE_LINUX=quiet");
  }
  SECTION("several assignments, one with a continued line") {
    machine.settings(
        "GRUB_CMDLINE_LINUX=\"a \\\nb\"\nGRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX c\"\n");
  }
  SECTION("no variable at all (microsoft/azure-linux-image-tools#711)") {
    machine.settings("GRUB_TIMEOUT=1\n");
  }
  SECTION("an empty file") {
    machine.settings("");
  }
  SECTION("no file (microsoft/azure-linux-image-tools#711)") {
    machine.settings("");
    machine.root.remove("/etc/default/grub");
  }
  SECTION("_DEFAULT only (voxpupuli/puppet-augeasproviders_grub#38)") {
    machine.settings("GRUB_CMDLINE_LINUX_DEFAULT=\"root=x quiet\"\n");
  }
  SECTION("CRLF (unraid/webgui#2613)") {
    machine.settings("GRUB_CMDLINE_LINUX=\"quiet\"\r\n");
  }
  SECTION("a line that goes on in the next one") {
    machine.settings("GRUB_CMDLINE_LINUX=quiet\nGRUB_TIMEOUT=5\\\n");
  }
  SECTION("a line that goes on, without its end") {
    machine.settings("GRUB_CMDLINE_LINUX=quiet\nGRUB_TIMEOUT=5\\");
  }
  SECTION("a link (ComplianceAsCode/content#477)") {
    machine.root.file("/etc/sysconfig/grub", machine.settings());
    machine.root.remove("/etc/default/grub").link("/etc/default/grub", "../sysconfig/grub");
  }
  check_round_trip(machine);
}

TEST_CASE("grub-settings: the block is at the end, its lines can't be taken for others'") {
  ClassicRoot machine;
  const auto before = machine.settings();
  REQUIRE(ensure(machine.system, {}));
  const auto now = machine.settings();
  CHECK(now.starts_with(before + "# BEGIN peerpath"));
  CHECK(now.ends_with("# END peerpath\n"));
  CHECK_FALSE(contains(now.substr(before.size()), "\nGRUB_CMDLINE_LINUX"));
  CHECK_FALSE(contains(now, "+="));
  CHECK(machine.system.list("/etc/default").value() == std::vector<std::string>{"grub"});
}

TEST_CASE("grub-settings: a file that we made and others added to → what's theirs stays") {
  ClassicRoot machine;
  machine.root.remove("/etc/default/grub");
  REQUIRE(ensure(machine.system, {}));
  machine.root.file("/etc/default/grub", machine.settings() + "GRUB_TIMEOUT=9\n");
  CHECK(revert(machine.system, {}).value().result == "changed");
  CHECK(machine.settings() == "GRUB_TIMEOUT=9\n");
  CHECK_FALSE(machine.system.exists("/var/lib/peerpath"));
}

TEST_CASE("grub-settings: many runs, one block (lae/ansible-role-proxmox#274)") {
  ClassicRoot machine;
  for (int i = 0; i < 7; ++i)
    REQUIRE(ensure(machine.system, {}));
  const auto text = machine.settings();
  CHECK(text.find("BEGIN peerpath") == text.rfind("BEGIN peerpath"));
}

TEST_CASE(
    "grub-settings: settings that don't source → an error that names them, nothing changed "
    "(MagnaCapax/PMSS#476)") {
  ClassicRoot machine;
  machine.root.file("/etc/default/grub", "GRUB_CMDLINE_LINUX=\"quiet\n");
  const auto before = snapshot(machine.root.path());
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == Errc::malformed);
  CHECK(contains(outcome.error().text(), machine.root.path() + "/etc/default/grub"));
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

TEST_CASE("grub-settings: our block twice → an error with the second one's line, nothing changed") {
  ClassicRoot machine;
  REQUIRE(ensure(machine.system, {}));
  const auto text = machine.settings();
  const auto begin = text.find("# BEGIN peerpath");
  machine.root.file("/etc/default/grub", text + text.substr(begin));
  const auto line = std::ranges::count(text, '\n') + 1;
  const auto before = snapshot(machine.root.path());
  for (const auto operation : {ensure, revert}) {
    const auto outcome = operation(machine.system, {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == Errc::malformed);
    CHECK(contains(outcome.error().text(), "line " + std::to_string(line) + ": peerpath's block"));
  }
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

TEST_CASE(
    "grub-settings: a `return` that's passed by; one that isn't → what it keeps out is said") {
  ClassicRoot machine;
  SECTION("passed by") {
    machine.root.file("/etc/default/grub", "[ -z \"$x\" ] || return 0\nGRUB_CMDLINE_LINUX=quiet\n");
    CHECK(ensure(machine.system, {}).value().status == ExitStatus::good);
  }
  SECTION("taken") {
    machine.root.file("/etc/default/grub", "GRUB_CMDLINE_LINUX=quiet\nreturn 0\n");
    const auto before = snapshot(machine.root.path());
    const auto outcome = ensure(machine.system, {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == Errc::unsupported);
    CHECK(contains(outcome.error().text(), "don't come to a command line with 'iommu=pt'"));
    CHECK(differences(before, snapshot(machine.root.path())) == "");
  }
}

TEST_CASE("grub-settings: a contrary word → conflict with file and line, nothing changed") {
  ClassicRoot machine;
  machine.settings("GRUB_TIMEOUT=1\nGRUB_CMDLINE_LINUX=\"iommu=nopt\"\n");
  const auto before = snapshot(machine.root.path());
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::conflict);
  CHECK(outcome.conflict->file == "/etc/default/grub");
  CHECK(outcome.conflict->line == 2);
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

TEST_CASE("grub-settings: ensure after ensure --force: what was forced stays") {
  ClassicRoot machine;
  machine.settings("GRUB_CMDLINE_LINUX=\"iommu=nopt\"\n");
  REQUIRE(ensure(machine.system, {.force = true}).value().status == ExitStatus::good);
  const auto before = snapshot(machine.root.path());
  const auto again = ensure(machine.system, {}).value();
  CHECK(again.status == ExitStatus::good);
  CHECK(again.result == "unchanged");
  CHECK(differences(before, snapshot(machine.root.path())) == "");
  REQUIRE(revert(machine.system, {}));
  CHECK(machine.settings() == "GRUB_CMDLINE_LINUX=\"iommu=nopt\"\n");
}

TEST_CASE("grub-settings: a bare '--' → said with its place, not a file that isn't read") {
  ClassicRoot machine;
  machine.root.file("/etc/default/grub.d/zzz.cfg", "GRUB_CMDLINE_LINUX=quiet\n");
  machine.settings("GRUB_CMDLINE_LINUX=\"-- splash\"\n");
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(contains(outcome.error().text(),
                 "bare '--' in '" + machine.root.path() + "/etc/default/grub:1'"));
}

TEST_CASE(
    "grub-settings: UEFI: the ESP's stub is never written, a real configuration there is "
    "(goldyfruit/puppet-grub2#79)") {
  ClassicRoot machine;
  const std::string esp = "/boot/efi/EFI/opensuse/grub.cfg";
  SECTION("a stub") {
    const std::string stub =
        "search --fs-uuid --set=dev 11-22\nset prefix=($dev)/grub2\nexport $prefix\n"
        "configfile $prefix/grub.cfg\n";
    machine.root.file(esp, stub);
    REQUIRE(ensure(machine.system, {}));
    CHECK(machine.system.read(esp).value() == stub);
    CHECK(contains(machine.config(), "iommu=pt"));
  }
  SECTION("the real one, as on RHEL 7") {
    REQUIRE(machine.generate(esp).status == 0);
    machine.root.remove("/boot/grub2/grub.cfg");
    machine.root.link("/etc/grub2-efi.cfg", "../boot/efi/EFI/opensuse/grub.cfg");
    const auto before = snapshot(machine.root.path());
    CHECK(ensure(machine.system, {}).value().status == ExitStatus::good);
    CHECK(contains(machine.system.read(esp).value(), "iommu=pt"));
    CHECK_FALSE(machine.system.exists("/boot/grub2/grub.cfg"));
    REQUIRE(revert(machine.system, {}));
    CHECK(differences(before, snapshot(machine.root.path())) == "");
  }
}

TEST_CASE("grub-settings: the generator loses entries → the old file stays, and it's said") {
  ClassicRoot machine;
  const auto before = machine.config();
  machine.system.on("/usr/sbin/grub2-mkconfig", [&](const Command& command) {
    machine.root.file(command.argv.back(), grub_config({}, "", ""), 0600);
    return succeeded();
  });
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::failed);
  CHECK(machine.config() == before);
}

TEST_CASE("grub-settings: no device to be probed → deferred, good") {
  ClassicRoot machine;
  machine.system.on("grub2-probe", failed(1, "grub2-probe: error: no canonical path\n"));
  const auto before = machine.config();
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  CHECK(outcome.result == "deferred");
  CHECK(std::ranges::any_of(outcome.messages, [](const std::string& message) {
    return contains(message, "grub2-mkconfig -o /boot/grub2/grub.cfg");
  }));
  CHECK(machine.config() == before);
}

TEST_CASE("grub-settings: a tool that flattens the settings: revert takes the leaked word, too") {
  ClassicRoot machine;
  REQUIRE(ensure(machine.system, {}));
  machine.settings("GRUB_CMDLINE_LINUX=\"rhgb iommu=pt quiet\"\n");
  REQUIRE(revert(machine.system, {}));
  CHECK(machine.settings() == "GRUB_CMDLINE_LINUX=\"rhgb quiet\"\n");
}

TEST_CASE("grub-settings: the administrator's own word stays after us") {
  ClassicRoot machine;
  machine.settings("GRUB_CMDLINE_LINUX_DEFAULT=\"quiet iommu=pt\"\n");
  const auto before = snapshot(machine.root.path());
  REQUIRE(ensure(machine.system, {}).value().result == "changed");
  REQUIRE(revert(machine.system, {}));
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

TEST_CASE("grub-settings: without a ledger the block goes by its marks") {
  ClassicRoot machine;
  const auto before = machine.settings();
  REQUIRE(ensure(machine.system, {}));
  machine.root.remove("/var/lib/peerpath");
  REQUIRE(revert(machine.system, {}));
  CHECK(machine.settings() == before);
}

TEST_CASE("grub-settings: a block without its end → an error with the line, nothing changed") {
  ClassicRoot machine;
  machine.root.file("/etc/default/grub",
                    "A=1\n# BEGIN peerpath (peerpath revert removes this block)\n");
  const auto before = snapshot(machine.root.path());
  for (const auto operation : {ensure, revert}) {
    const auto outcome = operation(machine.system, {});
    REQUIRE_FALSE(outcome);
    CHECK(contains(outcome.error().text(), "line 2"));
  }
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}
