// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/garden_linux.hpp"

#include "boot/vendor_root.hpp"
#include "support/catch.hpp"
#include "support/pe_writer.hpp"

#include <sys/stat.h>

using namespace peerpath;
using namespace peerpath::boot;
using namespace peerpath::test;

namespace {

constexpr const char* cmdline_path = "/etc/kernel/cmdline";
constexpr const char* entry_path = "/efi/loader/entries/Default-6.12.0-1.conf";

/// A Garden Linux whose update-kernel-cmdline sources the settings with the real shell.
struct GardenRoot : VendorRoot {
  bool entries_follow = true;  ///< update-bootloaders runs after it

  GardenRoot() {
    root.file("/etc/kernel/cmdline.d/00-default.cfg", "CMDLINE_LINUX=\"ro\"\n");
    root.file("/etc/kernel/cmdline.d/10-console.cfg",
              "CMDLINE_LINUX=\"$CMDLINE_LINUX console='ttyS0,115200'\"\n");
    root.file("/efi/Default/6.12.0-1/linux", "kernel");
    program("/usr/local/sbin/update-kernel-cmdline");
    system.on("update-kernel-cmdline", [this](const Command&) { return update(); });
    REQUIRE(update().status == 0);
  }

  CommandResult update() {
    Command shell{.argv = {"/bin/sh", "-c",
                           "set -eu; for f; do . \"$f\"; done; printf '%s' \"$CMDLINE_LINUX\"",
                           "sh"}};
    const auto names = system.list("/etc/kernel/cmdline.d").value();
    for (const auto& name : names)
      shell.argv.push_back("/etc/kernel/cmdline.d/" + name);
    const auto result = system.run(shell).value();
    if (result.status != 0) return result;
    const auto line = "root=LABEL=ROOT " + result.out;
    root.file(cmdline_path, line + "\n");
    if (entries_follow) {
      root.file(entry_path, fmt::format("title Garden\nversion 6.12.0-1\noptions {}\n"
                                        "linux /Default/6.12.0-1/linux\n",
                                        line));
    }
    return succeeded();
  }
  [[nodiscard]] long updates() const { return times_run(system, {"update-kernel-cmdline"}); }
};

const std::vector<std::string> rewritten{"etc/kernel/cmdline", "etc/kernel", "efi"};

}  // namespace

TEST_CASE("garden-linux: a settings file in the shell's form, made into the cmdline by its tool") {
  GardenRoot machine;
  const NothingChanged state(machine.root, rewritten);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.boot_loader == "garden-linux");
  CHECK(outcome.status == ExitStatus::good);
  CHECK(outcome.changed);
  CHECK(contains(machine.text(GardenLinux::settings_path),
                 "CMDLINE_LINUX=\"${CMDLINE_LINUX:+$CMDLINE_LINUX }iommu=pt\"\n"));
  CHECK(machine.text(cmdline_path) == "root=LABEL=ROOT ro console='ttyS0,115200' iommu=pt\n");
  CHECK(machine.updates() == 1);

  const NothingChanged ensured(machine.root);
  CHECK(ensure(machine.system, {}).value().result == "unchanged");
  CHECK(machine.updates() == 1);
  ensured.check();

  REQUIRE(revert(machine.system, {}));
  CHECK(machine.updates() == 2);
  state.check();
  CHECK(revert(machine.system, {}).value().result == "unchanged");
}

TEST_CASE("garden-linux: entries of before → what makes them anew is said, ensure twice is once") {
  GardenRoot machine;
  machine.entries_follow = false;
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.result == "deferred");
  CHECK(said(outcome, "'update-bootloaders', or the next kernel, brings the word"));
  CHECK(audit(machine.system, {}).value().status == ExitStatus::check_failed);
  CHECK_FALSE(ensure(machine.system, {}).value().changed);
  CHECK(machine.updates() == 1);
  machine.entries_follow = true;
  machine.update();
  CHECK(ensure(machine.system, {}).value().result == "unchanged");
}

TEST_CASE("garden-linux: a unified kernel image → what it boots with is read from it") {
  GardenRoot machine;
  const auto image = [](const std::string& command_line) {
    PeWriter writer;
    writer.section(".sdmagic", "#### LoaderInfo: systemd-stub 257.1-1 ####");
    return writer.section(".linux", "kernel").section(".cmdline", command_line).image();
  };
  const std::string path = "/efi/EFI/Linux/gardenlinux.efi";
  auto status = ExitStatus::good;
  SECTION("passthrough") {
    machine.root.file(path, image("quiet iommu=pt"));
  }
  SECTION("translating") {
    machine.root.file(path, image("quiet"));
    status = ExitStatus::check_failed;
  }
  SECTION("not readable") {
    machine.root.file(path, "MZ");
    status = ExitStatus::unknown;
  }
  REQUIRE(ensure(machine.system, {}));
  const auto outcome = audit(machine.system, {}).value();
  CHECK(outcome.boot_loader == "garden-linux");
  CHECK(outcome.status == status);
  CHECK(said(outcome, "gardenlinux.efi': isn't a readable PE image") ==
        (status == ExitStatus::unknown));
}

TEST_CASE("garden-linux: a contrary word in the settings → conflict, nothing is changed") {
  GardenRoot machine;
  machine.root.file("/etc/kernel/cmdline.d/20-mine.cfg",
                    "# iommu=nopt\nCMDLINE_LINUX=\"$CMDLINE_LINUX iommu=nopt\"\n");
  const NothingChanged state(machine.root, rewritten);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::conflict);
  REQUIRE(outcome.conflict);
  CHECK(outcome.conflict->file == "/etc/kernel/cmdline.d/20-mine.cfg");
  CHECK(outcome.conflict->line == 2);
  CHECK(machine.updates() == 0);
  state.check();
  CHECK(ensure(machine.system, {.force = true}).value().status == ExitStatus::good);
  CHECK(contains(machine.text(cmdline_path), "iommu=nopt iommu=pt\n"));
}

TEST_CASE("garden-linux: settings that can't take the word → said, nothing is changed") {
  GardenRoot machine;
  auto code = Errc::unsupported;
  std::string why = "a file that's read after it sets the command line anew";
  SECTION("a later file assigns anew") {
    machine.root.file("/etc/kernel/cmdline.d/99-z.cfg", "CMDLINE_LINUX=quiet\n");
  }
  SECTION("an open quote") {
    machine.root.file("/etc/kernel/cmdline.d/20-x.cfg", "CMDLINE_LINUX='a=\"b'\n");
    why = "'iommu=pt' wouldn't work there: an open quote takes it in";
  }
  SECTION("it doesn't source") {
    machine.root.file("/etc/kernel/cmdline.d/20-x.cfg", "CMDLINE_LINUX=\"quiet\nx\n");
    code = Errc::malformed;
    why = "/etc/kernel/cmdline.d/20-x.cfg' can't be sourced: ";
  }
  SECTION("a FIFO among the files") {
    REQUIRE(::mkfifo((machine.root.path() + "/etc/kernel/cmdline.d/20-x.cfg").c_str(), 0600) == 0);
    code = Errc::malformed;
    why = "/etc/kernel/cmdline.d/20-x.cfg': not a regular file";
  }
  SECTION("a variable that nobody sets, as for the tool") {
    machine.root.file("/etc/kernel/cmdline.d/20-x.cfg", "CMDLINE_LINUX=\"$NOBODY\"\n");
    code = Errc::malformed;
    why = "NOBODY";
  }
  SECTION("somebody else's file has our name") {
    machine.root.file(GardenLinux::settings_path, "CMDLINE_LINUX=\"$CMDLINE_LINUX quiet\"\n");
    code = Errc::conflict;
    why = "not written by peerpath";
  }
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  INFO(outcome.error().text());
  CHECK(outcome.error().code == code);
  CHECK(contains(outcome.error().text(), why));
  state.check();
}

TEST_CASE("garden-linux: the tool fails → undone, exit status 1") {
  GardenRoot machine;
  machine.system.on("update-kernel-cmdline", failed(1, "DEVICE: unbound variable\n"));
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(exit_status_of(outcome.error().code) == ExitStatus::failed);
  CHECK(contains(outcome.error().text(), "unbound variable"));
  state.check();
}

TEST_CASE("garden-linux: the tool isn't in the root → deferred, in place for whoever runs it") {
  GardenRoot machine;
  machine.root.remove("/usr/local/sbin/update-kernel-cmdline");
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.result == "deferred");
  CHECK(said(outcome, "'update-kernel-cmdline' brings the word"));
  CHECK(machine.updates() == 0);
  REQUIRE(revert(machine.system, {}));
  state.check();
}

TEST_CASE("garden-linux: the settings give it already → nothing is written or run") {
  GardenRoot machine;
  machine.root.file("/etc/kernel/cmdline.d/20-x.cfg",
                    "CMDLINE_LINUX=\"$CMDLINE_LINUX iommu=pt\"\n");
  machine.update();
  const NothingChanged state(machine.root);
  CHECK(ensure(machine.system, {}).value().result == "unchanged");
  CHECK(revert(machine.system, {}).value().result == "unchanged");
  state.check();
}

TEST_CASE("garden-linux: cmdline.d without such settings isn't its own") {
  GardenRoot machine;
  machine.root.remove("/etc/kernel/cmdline.d");
  machine.root.file("/etc/kernel/cmdline.d/10-x.cfg", "quiet splash\n");
  CHECK(audit(machine.system, {}).value().boot_loader == "bls");
}
