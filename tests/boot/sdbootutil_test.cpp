// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/sdbootutil.hpp"

#include "boot/vendor_root.hpp"
#include "support/catch.hpp"

using namespace peerpath;
using namespace peerpath::boot;
using namespace peerpath::test;

namespace {

constexpr const char* cmdline_path = "/etc/kernel/cmdline";
constexpr const char* entry_path =
    "/boot/efi/loader/entries/system-opensuse-tumbleweed-6.12.1-1-default-5.conf";
constexpr const char* injected = "BOOT_IMAGE=x mem_sleep_default=deep initrd=y root=UUID=1";

/// A booted Tumbleweed whose sdbootutil writes the entry as the real one does.
struct SuseRoot : VendorRoot {
  bool reads_directory = true;

  explicit SuseRoot(bool newer = true) : reads_directory(newer) {
    root.file("/etc/sysconfig/bootloader", "## Type: string\nLOADER_TYPE=\"grub2-bls\"\n");
    program("/usr/bin/sdbootutil",
            newer ? "#!/bin/bash\nfor i in /etc/kernel/cmdline.d/*; do :; done\n"
                  : "#!/bin/bash\ncat /etc/kernel/cmdline\n");
    root.file(cmdline_path, "root=UUID=1 splash quiet\n").file("/proc/cmdline", injected);
    root.file("/boot/efi/opensuse-tumbleweed/6.12.1-1-default/linux-abc", "kernel");
    system.booted = true;
    system.release = "6.12.1-1-default";
    update();
    system.on("sdbootutil", [this](const Command&) {
      update();
      return succeeded();
    });
  }

  void update() {
    auto line = text(cmdline_path);
    if (const auto names = system.list_files("/etc/kernel/cmdline.d"); reads_directory && names) {
      for (const auto& name : *names)
        line += name.starts_with('.') ? "" : " " + text("/etc/kernel/cmdline.d/" + name);
    }
    std::ranges::replace(line, '\n', ' ');
    root.file(entry_path, fmt::format("title openSUSE\nversion 5@6.12.1-1-default\noptions {}\n"
                                      "linux /opensuse-tumbleweed/6.12.1-1-default/linux-abc\n",
                                      line));
  }
  [[nodiscard]] long updates() const {
    return times_run(system, {"sdbootutil", "update-all-entries"});
  }
};

const std::vector<std::string> rewritten{"boot/efi/loader"};

void check_round_trip(SuseRoot& machine) {
  const auto outcome = check_tool_round_trip(machine, "sdbootutil", rewritten);
  REQUIRE(outcome.entries.size() == 1);
  CHECK(outcome.entries.at(0).entry.version == "6.12.1-1-default");
}

}  // namespace

TEST_CASE("sdbootutil: it reads cmdline.d → a file of our own, the word and nothing else") {
  SuseRoot machine;
  REQUIRE(ensure(machine.system, {}));
  CHECK(machine.text(Sdbootutil::settings_path) == "iommu=pt\n");
  CHECK(machine.text(cmdline_path) == "root=UUID=1 splash quiet\n");
  REQUIRE(revert(machine.system, {}));
  SuseRoot again;
  check_round_trip(again);
}

TEST_CASE("sdbootutil: an older one → /etc/kernel/cmdline, its time kept, never created") {
  SuseRoot machine(false);
  SECTION("there") {
    REQUIRE(machine.system.set_mtime(cmdline_path, {1000, 7}));
    check_round_trip(machine);
    REQUIRE(ensure(machine.system, {}));
    CHECK(machine.text(cmdline_path) == "root=UUID=1 splash quiet iommu=pt\n");
    CHECK(machine.system.info(cmdline_path).value().mtime.tv_sec == 1000);
  }
  SECTION("not there") {
    machine.root.remove(cmdline_path);
    const NothingChanged state(machine.root);
    const auto outcome = ensure(machine.system, {});
    REQUIRE_FALSE(outcome);
    CHECK(exit_status_of(outcome.error().code) == ExitStatus::unsupported);
    CHECK(contains(outcome.error().text(), "with 'iommu=pt' at its end"));
    state.check();
  }
}

TEST_CASE("sdbootutil: /proc/cmdline is never fed back (openSUSE/sdbootutil#182)") {
  const bool newer = GENERATE(true, false);
  SuseRoot machine(newer);
  for (int run = 0; run < 3; ++run)
    REQUIRE(ensure(machine.system, {}));
  const auto all =
      machine.text(cmdline_path) + machine.system.read(Sdbootutil::settings_path).value_or("");
  CHECK_FALSE(contains(all, "BOOT_IMAGE"));
  CHECK_FALSE(contains(all, "mem_sleep_default"));
  CHECK(all.find("iommu=pt") == all.rfind("iommu=pt"));
}

TEST_CASE("sdbootutil: the word twice is as good as once (openSUSE/sdbootutil#411)") {
  SuseRoot machine;
  machine.root.file("/etc/kernel/cmdline.d/50-mine.conf", "iommu=pt\n");
  machine.root.file(cmdline_path, "root=UUID=1 iommu=pt\n");
  machine.update();
  REQUIRE(contains(machine.text(entry_path), "iommu=pt  iommu=pt"));
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  CHECK(outcome.result == "unchanged");
  CHECK(revert(machine.system, {}).value().result == "unchanged");
  CHECK(machine.updates() == 0);
  state.check();
}

TEST_CASE(
    "sdbootutil: settings that are good, entries that are stale → "
    "update-all-entries (openSUSE/update-bootloader#192)") {
  SuseRoot machine;
  machine.root.file(cmdline_path, "root=UUID=1 iommu=pt\n");
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  CHECK(machine.updates() == 1);
  CHECK(std::ranges::all_of(machine.system.ran(), [](const auto& argv) {
    return argv == std::vector<std::string>{"sdbootutil", "update-all-entries"};
  }));
  CHECK(contains(machine.text(entry_path), "iommu=pt"));
  // It was there before us.
  REQUIRE(revert(machine.system, {}));
  CHECK(machine.text(cmdline_path) == "root=UUID=1 iommu=pt\n");
}

TEST_CASE(
    "sdbootutil: a transactional update's snapshot → pending until it's booted "
    "(openSUSE/fde-tools#21)") {
  SuseRoot machine;
  machine.system.booted = false;
  machine.program("/usr/sbin/transactional-update");
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  CHECK(outcome.result == "deferred");
  CHECK(said(outcome, "pending with its snapshot, which the next reboot starts"));
  CHECK(machine.updates() == 0);
  CHECK(audit(machine.system, {}).value().status == ExitStatus::check_failed);
  SECTION("reverted in the same snapshot: no trace") {
    REQUIRE(revert(machine.system, {}));
    state.check();
  }
  SECTION("booted: the next run makes the entries") {
    machine.system.booted = true;
    CHECK(ensure(machine.system, {}).value().status == ExitStatus::good);
    CHECK(machine.updates() == 1);
  }
}

TEST_CASE("sdbootutil: a contrary word → conflict, nothing is changed or run") {
  SuseRoot machine;
  std::string file = cmdline_path;
  SECTION("in the cmdline") {
    machine.root.file(cmdline_path, "root=UUID=1 iommu=nopt\n");
  }
  SECTION("in a file of cmdline.d") {
    file = "/etc/kernel/cmdline.d/50-mine.conf";
    machine.root.file(file, "iommu.passthrough=0\n");
  }
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::conflict);
  REQUIRE(outcome.conflict);
  CHECK(outcome.conflict->file == file);
  CHECK(outcome.conflict->line == 1);
  CHECK(machine.updates() == 0);
  state.check();
  CHECK(ensure(machine.system, {.force = true}).value().status == ExitStatus::good);
}

TEST_CASE("sdbootutil: a place where the word wouldn't work → unsupported, nothing is changed") {
  SuseRoot machine;
  bool force = false;
  std::string why;
  SECTION("words for init before it") {
    machine.root.file(cmdline_path, "root=UUID=1 -- single\n");
    why = "it comes after a bare '--'";
  }
  SECTION("an open quote") {
    machine.root.file(cmdline_path, "root=UUID=1 foo=\"bar\n");
    why = "an open quote takes it in";
  }
  SECTION("a later file, though it's forced") {
    machine.root.file("/etc/kernel/cmdline.d/95-late.conf", "iommu=nopt\n");
    force = true;
    why = "overridden by 'iommu=nopt'";
  }
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {.force = force});
  REQUIRE_FALSE(outcome);
  CHECK(exit_status_of(outcome.error().code) == ExitStatus::unsupported);
  CHECK(contains(outcome.error().text(), "wouldn't work there: " + why));
  state.check();
}

TEST_CASE("sdbootutil: a directory or a hidden file among the settings is nothing to it") {
  SuseRoot machine;
  SECTION("a directory") {
    machine.root.directory("/etc/kernel/cmdline.d/old");
    CHECK(ensure(machine.system, {}).value().status == ExitStatus::good);
  }
  SECTION("half a file of ours") {
    machine.root.file("/etc/kernel/cmdline.d/.90-peerpath.conf.peerpath-new", "iommu=pt\n");
    CHECK(ensure(machine.system, {}).value().changed);
  }
  CHECK(machine.text(Sdbootutil::settings_path) == "iommu=pt\n");
}

TEST_CASE("sdbootutil: the tool fails → all is undone") {
  SuseRoot machine;
  machine.system.on("sdbootutil", failed(1, "Error: no ESP\n"));
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(contains(outcome.error().text(), "Error: no ESP"));
  state.check();
}

TEST_CASE("sdbootutil: somebody else's file has our name → conflict, nothing is changed") {
  SuseRoot machine;
  machine.root.file(Sdbootutil::settings_path, "quiet\n");
  const NothingChanged state(machine.root);
  CHECK(exit_status_of(ensure(machine.system, {}).error().code) == ExitStatus::conflict);
  CHECK(exit_status_of(revert(machine.system, {}).error().code) == ExitStatus::conflict);
  state.check();
}

TEST_CASE("sdbootutil: only where it's the one that makes the entries") {
  SuseRoot machine;
  SECTION("classic GRUB") {
    machine.root.file("/etc/sysconfig/bootloader", "LOADER_TYPE=\"grub2-efi\"\n");
    CHECK(audit(machine.system, {}).value().boot_loader == "bls");
  }
  SECTION("not installed") {
    machine.root.remove("/usr/bin/sdbootutil");
    CHECK(audit(machine.system, {}).value().boot_loader == "bls");
  }
  SECTION("systemd-boot") {
    machine.root.file("/etc/sysconfig/bootloader", "LOADER_TYPE=x\nLOADER_TYPE='systemd-boot'\n");
    CHECK(audit(machine.system, {}).value().boot_loader == "sdbootutil");
  }
}

TEST_CASE("sdbootutil: removed meanwhile → our file goes all the same, nothing is waited for") {
  SuseRoot machine;
  REQUIRE(ensure(machine.system, {}));
  machine.root.remove("/usr/bin/sdbootutil");
  CHECK(revert(machine.system, {}).value().result == "changed");
  CHECK_FALSE(machine.system.exists(Sdbootutil::settings_path));
  CHECK_FALSE(machine.system.exists("/var/lib/peerpath"));
}
