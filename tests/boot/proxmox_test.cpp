// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/proxmox.hpp"

#include "boot/grub_dropin.hpp"
#include "boot/ledger.hpp"
#include "boot/vendor_root.hpp"
#include "support/catch.hpp"

#include <stdexcept>

using namespace peerpath;
using namespace peerpath::boot;
using namespace peerpath::test;

namespace {

const std::vector<std::string> refresh{"proxmox-boot-tool", "refresh"};
constexpr const char* cmdline_path = "/etc/kernel/cmdline";

/// A Proxmox VE on ZFS: GRUB is installed, the ESPs have GRUB or systemd-boot.
struct ProxmoxRoot : GrubRoot {
  int esp_refreshes = 0;
  std::string esp_line;  ///< what the last refresh put into the entries of systemd-boot

  ProxmoxRoot() {
    root.file(Proxmox::esps_path, "AAAA-BBBB\nCCCC-DDDD\n");
    root.file(cmdline_path, "root=ZFS=rpool/ROOT/pve-1 boot=zfs\n");
    root.file("/usr/sbin/proxmox-boot-tool", "#!/bin/sh\n", 0755);
    root.file("/proc/cmdline", "root=ZFS=rpool/ROOT/pve-1\n");
    system.booted = true;
    system.release = "6.1.0-35-amd64";
    works();
  }

  /// As the real tool: the first line alone, which must have `root=`.
  void works() {
    system.on("proxmox-boot-tool", [this](const Command&) {
      const auto text = system.read(cmdline_path).value_or("");
      esp_line = text.substr(0, text.find('\n'));
      if (!contains(esp_line, "root=")) return failed(1, "E: no root= in cmdline\n");
      ++esp_refreshes;
      return succeeded();
    });
  }
};

}  // namespace

TEST_CASE("proxmox: booted → GRUB's settings, the first line, one refresh; revert takes all back") {
  ProxmoxRoot machine;
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.boot_loader == "proxmox");
  CHECK(outcome.changed);
  // The ESPs' own entries can't be read.
  CHECK(outcome.status == ExitStatus::unknown);
  CHECK(said(outcome, "these ESPs aren't mounted"));
  for (const auto& entry : outcome.entries)
    CHECK(entry.mode == cmdline::Mode::passthrough);
  CHECK(machine.system.exists(GrubDropin::dropin_path));
  CHECK(machine.system.read(cmdline_path).value() ==
        "root=ZFS=rpool/ROOT/pve-1 boot=zfs iommu=pt\n");
  CHECK(machine.esp_refreshes == 1);

  const NothingChanged ensured(machine.root);
  CHECK(ensure(machine.system, {}).value().result == "unchanged");
  CHECK(machine.esp_refreshes == 1);
  ensured.check();

  CHECK(revert(machine.system, {}).value().result == "changed");
  CHECK(machine.esp_refreshes == 2);
  CHECK(machine.esp_line == "root=ZFS=rpool/ROOT/pve-1 boot=zfs");
  state.check();
  CHECK(revert(machine.system, {}).value().result == "unchanged");
  CHECK(machine.esp_refreshes == 2);
}

TEST_CASE("proxmox: found by its list of ESPs, a cmdline without quotes (MacRimi/ProxMenux#15)") {
  ProxmoxRoot machine;
  machine.root.file(cmdline_path, "root=ZFS=rpool/ROOT/pve-1 boot=zfs\nsecond line\n");
  SECTION("GRUB is there, too") {}
  SECTION("GRUB isn't installed") {
    machine.root.remove("/usr/sbin/grub-mkconfig");
  }
  REQUIRE(ensure(machine.system, {}));
  CHECK(machine.system.read(cmdline_path).value() ==
        "root=ZFS=rpool/ROOT/pve-1 boot=zfs iommu=pt\nsecond line\n");
  CHECK(machine.esp_line == "root=ZFS=rpool/ROOT/pve-1 boot=zfs iommu=pt");
}

TEST_CASE("proxmox: an image → the settings are in place, the refresh is deferred until it's run") {
  ProxmoxRoot machine;
  machine.system.booted = false;
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.result == "deferred");
  CHECK(outcome.status == ExitStatus::good);
  CHECK(said(outcome, "'proxmox-boot-tool refresh' on the booted system brings the word"));
  CHECK(machine.esp_refreshes == 0);
  CHECK(contains(machine.system.read(cmdline_path).value(), "iommu=pt"));
  CHECK_FALSE(ensure(machine.system, {}).value().changed);
  SECTION("reverted there: no trace") {
    REQUIRE(revert(machine.system, {}));
    CHECK(machine.esp_refreshes == 0);
    state.check();
  }
  SECTION("once booted, the next run refreshes, and only that") {
    machine.system.booted = true;
    REQUIRE(ensure(machine.system, {}));
    CHECK(machine.esp_refreshes == 1);
    REQUIRE(ensure(machine.system, {}));
    CHECK(machine.esp_refreshes == 1);
    REQUIRE(revert(machine.system, {}));
    CHECK(machine.esp_refreshes == 2);
    state.check();
  }
}

TEST_CASE("proxmox: a revert in an image of what's on the ESPs → deferred, finished once booted") {
  ProxmoxRoot machine;
  REQUIRE(ensure(machine.system, {}));
  machine.system.booted = false;
  CHECK(revert(machine.system, {}).value().result == "deferred");
  CHECK_FALSE(machine.system.exists(GrubDropin::dropin_path));
  machine.system.booted = true;
  REQUIRE(revert(machine.system, {}));
  CHECK(machine.esp_refreshes == 2);
  CHECK_FALSE(machine.system.exists("/var/lib/peerpath"));
}

TEST_CASE("proxmox: the refresh fails → all is undone, the error has its words") {
  ProxmoxRoot machine;
  SECTION("by itself") {
    machine.system.on("proxmox-boot-tool", failed(1, "mount: no such device\n"));
  }
  SECTION("for a cmdline that it doesn't take: ours was only ever appended") {
    machine.root.file(cmdline_path, "quiet\n");
  }
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(exit_status_of(outcome.error().code) == ExitStatus::failed);
  CHECK(contains(outcome.error().text(), "'proxmox-boot-tool refresh' ended with status 1"));
  state.check();
}

TEST_CASE("proxmox: a run that was killed before the refresh → the next one refreshes") {
  ProxmoxRoot machine;
  machine.system.on("proxmox-boot-tool",
                    [](const Command&) -> CommandResult { throw std::runtime_error("killed"); });
  const NothingChanged state(machine.root);
  CHECK_THROWS(ensure(machine.system, {}));
  CHECK(machine.system.exists(GrubDropin::dropin_path));
  machine.works();
  SECTION("ensure") {
    REQUIRE(ensure(machine.system, {}));
    CHECK(machine.esp_refreshes == 1);
    CHECK(contains(machine.esp_line, "iommu=pt"));
  }
  REQUIRE(revert(machine.system, {}));
  CHECK_FALSE(contains(machine.esp_line, "iommu=pt"));
  state.check();
}

TEST_CASE("proxmox: no /etc/kernel/cmdline → it's never created, and that's told") {
  ProxmoxRoot machine;
  machine.root.remove(cmdline_path);
  machine.system.on("proxmox-boot-tool", succeeded());
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::unknown);
  CHECK(said(outcome, "the entries get the running kernel's command line"));
  CHECK_FALSE(machine.system.exists(cmdline_path));
}

TEST_CASE("proxmox: a contrary word → conflict, nothing is changed or run") {
  ProxmoxRoot machine;
  std::string file = cmdline_path;
  SECTION("in the cmdline") {
    machine.root.file(cmdline_path, "root=x iommu=nopt\n");
  }
  SECTION("in GRUB's settings") {
    machine.settings("iommu=nopt", "quiet");
    file = "/etc/default/grub";
  }
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::conflict);
  REQUIRE(outcome.conflict);
  CHECK(outcome.conflict->file == file);
  CHECK(machine.esp_refreshes == 0);
  state.check();
  REQUIRE(ensure(machine.system, {.force = true}));
  CHECK(contains(machine.esp_line, "iommu=pt"));
  REQUIRE(revert(machine.system, {}));
  state.check();
}

TEST_CASE("proxmox: settings that give the word already → nothing is run, they stay") {
  ProxmoxRoot machine;
  machine.settings("iommu=pt", "quiet");
  machine.root.file(cmdline_path, "root=x iommu=pt\n");
  const NothingChanged state(machine.root);
  CHECK(ensure(machine.system, {}).value().result == "unchanged");
  CHECK(revert(machine.system, {}).value().result == "unchanged");
  CHECK(machine.esp_refreshes == 0);
  state.check();
}

TEST_CASE("proxmox: an empty list of ESPs → GRUB alone") {
  ProxmoxRoot machine;
  machine.root.file(Proxmox::esps_path, "\n");
  CHECK(ensure(machine.system, {}).value().boot_loader == "grub");
  CHECK(machine.system.read(cmdline_path).value() == "root=ZFS=rpool/ROOT/pve-1 boot=zfs\n");
}

TEST_CASE("proxmox: no proxmox-boot-tool in the root → deferred") {
  ProxmoxRoot machine;
  machine.root.remove("/usr/sbin/proxmox-boot-tool");
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.result == "deferred");
  CHECK(said(outcome, "there's no 'proxmox-boot-tool'"));
}
