// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/operations.hpp"

#include "boot/grub_dropin.hpp"
#include "boot/grub_root.hpp"
#include "boot/ledger.hpp"
#include "support/catch.hpp"
#include "support/snapshot.hpp"

#include <algorithm>
#include <filesystem>
#include <unistd.h>

using namespace peerpath;
using namespace peerpath::boot;
using peerpath::test::differences;
using peerpath::test::failed;
using peerpath::test::grub_config;
using peerpath::test::GrubRoot;
using peerpath::test::snapshot;
using peerpath::test::TempRoot;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

bool said(const Outcome& outcome, std::string_view part) {
  return std::any_of(outcome.messages.begin(), outcome.messages.end(),
                     [&](const std::string& message) { return contains(message, part); });
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

/// That nothing at all was changed by what's done in between.
class Unchanged {
 public:
  explicit Unchanged(const GrubRoot& machine)
      : path_(machine.root.path()), before_(snapshot(path_)) {}
  void check() const { CHECK(differences(before_, snapshot(path_)) == ""); }

 private:
  std::string path_;
  std::map<std::string, std::string> before_;
};

}  // namespace

TEST_CASE("ensure: a Debian root → every entry boots passthrough") {
  GrubRoot machine;
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  CHECK(outcome.result == "changed");
  CHECK(outcome.boot_loader == "grub");
  REQUIRE(outcome.entries.size() == 5);
  for (const auto& entry : outcome.entries) {
    INFO(entry.entry.title);
    CHECK(entry.mode == cmdline::Mode::passthrough);
    CHECK(entry.judgement.decided_by->text == "iommu=pt");
  }
  CHECK(count(machine.config(), "iommu=pt") == 5);
  CHECK(machine.system.read("/etc/default/grub").value().find("iommu") == std::string::npos);
  CHECK(machine.system.list("/boot/grub").value() == std::vector<std::string>{"grub.cfg"});
  CHECK(machine.system.list("/etc/default/grub.d").value() ==
        std::vector<std::string>{"zz-peerpath.cfg"});
}

TEST_CASE("ensure: a second run changes nothing") {
  GrubRoot machine;
  REQUIRE(ensure(machine.system, {}));
  const Unchanged state(machine);
  const auto again = ensure(machine.system, {}).value();
  CHECK(again.result == "unchanged");
  CHECK_FALSE(again.changed);
  CHECK(again.status == ExitStatus::good);
  state.check();
}

TEST_CASE("ensure, revert: every byte, mode, owner and time is as before") {
  GrubRoot machine;
  SECTION("as it is") {}
  SECTION("no directories for settings and state") {
    machine.root.remove("/etc/default/grub.d").remove("/var/lib");
  }
  SECTION("no settings file at all") {
    machine.settings("", "");
    machine.root.remove("/etc/default/grub");
  }
  SECTION("no grub.cfg yet") {
    machine.root.remove("/boot/grub/grub.cfg");
  }
  SECTION("words of the administrator's that stay") {
    machine.settings("iommu=pt console=ttyS0", "quiet");
  }
  SECTION("grub.cfg is a link") {
    machine.root.file("/boot/grub/real.cfg", machine.config(), 0444);
    machine.root.remove("/boot/grub/grub.cfg").link("/boot/grub/grub.cfg", "real.cfg");
  }
  const Unchanged state(machine);
  REQUIRE(ensure(machine.system, {}));
  const auto outcome = revert(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  state.check();
  CHECK(revert(machine.system, {}).value().result == "unchanged");
  state.check();
}

TEST_CASE("ensure twice, then revert: as before the first") {
  GrubRoot machine;
  const Unchanged state(machine);
  REQUIRE(ensure(machine.system, {}));
  REQUIRE(ensure(machine.system, {}));
  REQUIRE(revert(machine.system, {}));
  state.check();
}

TEST_CASE("revert: what somebody else did in the meantime keeps its time") {
  GrubRoot machine;
  REQUIRE(ensure(machine.system, {}));
  machine.root.file("/etc/default/grub.d/50-other.cfg", "GRUB_TIMEOUT=1\n");
  const auto theirs = machine.system.info("/etc/default/grub.d").value().mtime;
  REQUIRE(revert(machine.system, {}));
  CHECK(machine.system.list("/etc/default/grub.d").value() ==
        std::vector<std::string>{"50-other.cfg"});
  const auto now = machine.system.info("/etc/default/grub.d").value().mtime;
  CHECK(std::make_pair(now.tv_sec, now.tv_nsec) >= std::make_pair(theirs.tv_sec, theirs.tv_nsec));
}

TEST_CASE("ensure: already untranslated → nothing is changed") {
  GrubRoot machine;
  SECTION("in GRUB_CMDLINE_LINUX") {
    machine.settings("iommu=pt", "quiet");
  }
  SECTION("the other spelling") {
    machine.settings("iommu.passthrough=1", "quiet");
  }
  SECTION("the IOMMU is off") {
    machine.settings("iommu=off", "");
  }
  SECTION("a comma list whose last word counts") {
    machine.settings("iommu=nopt,pt", "");
  }
  const Unchanged state(machine);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.result == "unchanged");
  CHECK(outcome.status == ExitStatus::good);
  state.check();
}

TEST_CASE("ensure: words that look like ours but aren't → ours is added") {
  GrubRoot machine;
  const auto* words = GENERATE("iommu=soft", "xiommu=pt", "intel_iommu=pt", "amd_iommu=on",
                               "iommu=PT", "'iommu=force'", "intel_iommu=on", "iommu_pt");
  INFO(words);
  machine.settings(words, "quiet");
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  CHECK(count(machine.config(), " iommu=pt") == 5);
  CHECK(contains(machine.config(), words));
}

TEST_CASE("ensure: only in the default entries → recovery entries get it too") {
  GrubRoot machine;
  machine.settings("", "quiet iommu=pt");
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  for (const auto& entry : outcome.entries)
    CHECK(entry.untranslated());
}

TEST_CASE("ensure: a contrary word of the administrator's → conflict, nothing is changed") {
  GrubRoot machine;
  SECTION("iommu=nopt") {
    machine.settings("iommu=nopt", "quiet");
  }
  SECTION("in the default entries") {
    machine.settings("", "iommu=nopt");
  }
  SECTION("iommu.passthrough=0") {
    machine.settings("iommu.passthrough=0", "quiet");
  }
  SECTION("after ours") {
    machine.settings("iommu=pt", "iommu.passthrough=off");
  }
  SECTION("in quotes") {
    machine.settings("\\\"iommu=nopt\\\"", "");
  }
  SECTION("in a settings file of its own") {
    machine.root.file("/etc/default/grub.d/99-mine.cfg",
                      "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX iommu=nopt\"\n");
  }
  const Unchanged state(machine);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::conflict);
  CHECK(outcome.result == "conflict");
  CHECK_FALSE(outcome.changed);
  REQUIRE(outcome.conflict);
  CHECK(contains(outcome.conflict->file, "/etc/default/grub"));
  CHECK(outcome.conflict->line > 0);
  CHECK(said(outcome, "contradicts passthrough"));
  state.check();
}

TEST_CASE("ensure: a contrary word in an entry that no generator wrote → conflict") {
  GrubRoot machine;
  machine.root.file("/boot/grub/custom.cfg",
                    "menuentry mine {\n linux /boot/vmlinuz-6.1.0-35-amd64 iommu=nopt\n}\n");
  const Unchanged state(machine);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::conflict);
  CHECK(outcome.conflict->file == "/boot/grub/custom.cfg");
  CHECK(outcome.conflict->line == 2);
  state.check();
}

TEST_CASE("ensure: a hand-written entry without our word → the rest is done, and it's told") {
  GrubRoot machine;
  machine.root.file("/boot/grub/custom.cfg",
                    "menuentry mine {\n linux /boot/vmlinuz-6.1.0-35-amd64 quiet\n}\n");
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.changed);
  CHECK(outcome.status == ExitStatus::check_failed);
  CHECK(said(outcome, "/boot/grub/custom.cfg:2: boots kernel-default: it needs 'iommu=pt'"));
  // The next run has nothing left that it could do.
  const auto again = ensure(machine.system, {}).value();
  CHECK_FALSE(again.changed);
  CHECK(again.status == ExitStatus::check_failed);
}

TEST_CASE("ensure --force: our word comes last everywhere, and revert takes it away") {
  GrubRoot machine;
  machine.settings("iommu=nopt", "quiet iommu.passthrough=0");
  const Unchanged state(machine);
  const auto outcome = ensure(machine.system, {.force = true}).value();
  CHECK(outcome.status == ExitStatus::good);
  for (const auto& entry : outcome.entries)
    CHECK(entry.untranslated());
  REQUIRE(revert(machine.system, {}));
  state.check();
}

TEST_CASE("ensure after ensure --force: what was forced stays, without a conflict") {
  GrubRoot machine;
  machine.settings("iommu=nopt", "quiet iommu.passthrough=0");
  const Unchanged before(machine);
  REQUIRE(ensure(machine.system, {.force = true}));
  const Unchanged state(machine);
  const auto again = ensure(machine.system, {}).value();
  CHECK(again.status == ExitStatus::good);
  CHECK(again.result == "unchanged");
  CHECK_FALSE(again.conflict);
  state.check();
  REQUIRE(revert(machine.system, {}));
  before.check();
  CHECK(ensure(machine.system, {}).value().status == ExitStatus::conflict);
}

TEST_CASE("audit: an entry that's translated → the word that did it, and those not heeded") {
  GrubRoot machine;
  machine.settings("iommu=pt iommu_pt=1", "iommu=nopt");
  const auto outcome = audit(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::check_failed);
  CHECK(said(outcome,
             ": boots translated because of 'iommu=nopt': it needs 'iommu=pt'; "
             "'iommu=pt' isn't heeded: overridden by 'iommu=nopt'"));
  // The recovery entry doesn't get the contrary word.
  CHECK(std::ranges::count_if(outcome.messages, [](const std::string& message) {
          return contains(message, "because of");
        }) == 3);
}

TEST_CASE("audit: two kernels loaded on one line → both are judged") {
  GrubRoot machine;
  machine.root.file("/boot/grub/grub.cfg",
                    "menuentry 'x' { linux /boot/vmlinuz-6.1.0-35-amd64 root=x iommu=pt; "
                    "linux /boot/vmlinuz-6.1.0-35-amd64 root=x; }\n");
  const auto outcome = audit(machine.system, {}).value();
  CHECK(outcome.entries.size() == 2);
  CHECK(outcome.status == ExitStatus::check_failed);
}

TEST_CASE("audit: a word that only looks like the right one → named, with the reason") {
  GrubRoot machine;
  std::string expected;
  SECTION("upper case") {
    machine.settings("iommu=PT", "quiet");
    expected = "boots kernel-default: it needs 'iommu=pt'; 'iommu=PT' isn't heeded: ";
  }
  SECTION("after the kernel's own words") {
    machine.settings("", "quiet -- iommu=pt");
    expected = "boots kernel-default: it needs 'iommu=pt'; 'iommu=pt' isn't heeded: after '--'";
  }
  CHECK(said(audit(machine.system, {}).value(), expected));
}

TEST_CASE("audit --kernel: no entry for it → could not tell, and which there are") {
  GrubRoot machine;
  REQUIRE(ensure(machine.system, {}));
  const auto outcome = audit(machine.system, {.kernel = "9.9.0"}).value();
  CHECK(outcome.status == ExitStatus::unknown);
  CHECK(said(outcome, "no entry for kernel 9.9.0; there are: 6.1.0-35-amd64, 6.1.0-31-amd64"));
  CHECK_FALSE(said(outcome, "no entry boots a kernel"));
  machine.root.file("/boot/grub/grub.cfg", "", 0444);
  CHECK(said(audit(machine.system, {.kernel = "9.9.0"}).value(),
             "no entry for kernel 9.9.0; there are: none of a known version"));
}

TEST_CASE("the settings file: a later contrary word of the administrator's wins") {
  GrubRoot machine;
  REQUIRE(ensure(machine.system, {}));
  machine.root.file("/etc/default/grub", "GRUB_CMDLINE_LINUX=\"iommu=nopt\"\n");
  const auto settings = evaluate_grub_settings(machine.system).value();
  CHECK(settings.linux_all == "iommu=nopt");
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::conflict);
  CHECK(outcome.conflict->file == "/etc/default/grub");
  CHECK(outcome.conflict->line == 1);
}

TEST_CASE("the settings file: where the package is installed, it's guarded against its removal") {
  GrubRoot machine;
  machine.root.file("/usr/sbin/peerpath", "", 0755);
  // The shell's `/usr/sbin/peerpath` is the one inside the root, as it is for the real System.
  std::string tried;
  machine.system.on_shell([&](Command command) {
    for (auto& variable : command.environment) {
      if (variable.starts_with("PEERPATH_CHANGE=")) tried = variable.substr(16);
      const auto at = variable.find("/usr/sbin/peerpath");
      if (at != std::string::npos) variable.insert(at, machine.root.path());
    }
    return command;
  });
  machine.system.on("grub-probe", failed(1, "not now\n"));
  REQUIRE(ensure(machine.system, {}));
  const auto content = machine.system.read(GrubDropin::dropin_path).value();
  CHECK(content == tried);
  CHECK(contains(content, "if [ -x /usr/sbin/peerpath ]; then\n"));
  // Sourced on a machine without the program, it does nothing.
  machine.system.on_shell({});
  CHECK(evaluate_grub_settings(machine.system).value().linux_all ==
        (::access("/usr/sbin/peerpath", X_OK) == 0 ? "iommu=pt" : ""));
}

TEST_CASE("the settings file: words with globs and quotes pass through it unharmed") {
  GrubRoot machine;
  machine.settings("dyndbg=\\\"file pciehp* +p\\\" *", "quiet");
  REQUIRE(ensure(machine.system, {}));
  CHECK(evaluate_grub_settings(machine.system).value().linux_all ==
        "dyndbg=\"file pciehp* +p\" * iommu=pt");
}

TEST_CASE("ensure: settings that don't source cleanly → an error that names the file") {
  GrubRoot machine;
  std::string file = "/etc/default/grub";
  SECTION("a quote without its end") {
    machine.root.file(file, "GRUB_TIMEOUT=1\nGRUB_CMDLINE_LINUX=\"quiet\n");
  }
  SECTION("+= isn't for sh") {
    machine.root.file(file, "GRUB_CMDLINE_LINUX+=\" b\"\n");
  }
  SECTION("a command that fails") {
    machine.root.file(file, "false\n");
  }
  SECTION("it ends the shell") {
    machine.root.file(file, "exit 0\n");
  }
  SECTION("binary") {
    machine.root.file(file, std::string("A=1\n\0\x7f\n", 7));
  }
  SECTION("huge") {
    machine.root.file(file, std::string(System::read_limit + 1, '#'));
  }
  SECTION("a directory") {
    machine.root.remove(file).directory(file);
  }
  SECTION("a dangling link") {
    machine.root.remove(file).link(file, "/nowhere");
  }
  SECTION("a cyclic link") {
    machine.root.remove(file).link(file, "grub");
  }
  SECTION("it keeps grub.d from being read") {
    machine.root.file(file, "set -f\n");
  }
  SECTION("a file in grub.d") {
    file = "/etc/default/grub.d/50-bad.cfg";
    machine.root.file(file, "if\n");
  }
  const Unchanged state(machine);
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  INFO(outcome.error().text());
  CHECK(contains(outcome.error().text(), "'" + machine.root.path() + file + "'"));
  CHECK(exit_status_of(outcome.error().code) == ExitStatus::failed);
  state.check();
}

TEST_CASE("ensure: CRLF in the settings → the kernel's words are judged without it") {
  GrubRoot machine;
  machine.root.file("/etc/default/grub", "GRUB_CMDLINE_LINUX=\"iommu=nopt\"\r\n");
  CHECK(ensure(machine.system, {}).value().status == ExitStatus::conflict);
}

TEST_CASE("ensure: a file that's read after ours and sets the line anew → said, nothing changed") {
  GrubRoot machine;
  machine.root.file("/etc/default/grub.d/zzz.cfg", "GRUB_CMDLINE_LINUX=quiet\n");
  const Unchanged state(machine);
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(exit_status_of(outcome.error().code) == ExitStatus::unsupported);
  CHECK(outcome.error().text() ==
        fmt::format("'{0}{1}': '{0}/etc/default/grub.d/zzz.cfg:1' is read after it and sets the "
                    "command line anew",
                    machine.root.path(), GrubDropin::dropin_path));
  state.check();
}

TEST_CASE("ensure: our word would come after a bare '--' → said with its place, nothing changed") {
  GrubRoot machine;
  machine.root.file("/etc/default/grub",
                    "GRUB_SERIAL_COMMAND=\"serial --unit=0\"\n# a -- b\n"
                    "GRUB_CMDLINE_LINUX=\"quiet -- splash\"\n");
  const Unchanged state(machine);
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(exit_status_of(outcome.error().code) == ExitStatus::unsupported);
  CHECK(contains(outcome.error().text(), fmt::format("'iommu=pt' would come after the bare '--' in "
                                                     "'{}/etc/default/grub:3'",
                                                     machine.root.path())));
  state.check();
}

TEST_CASE("ensure: a line that's too long for our word → said, nothing changed") {
  GrubRoot machine;
  machine.settings(std::string(2045, 'x'), "");
  const Unchanged state(machine);
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(exit_status_of(outcome.error().code) == ExitStatus::unsupported);
  CHECK(contains(outcome.error().text(), "bytes, and the kernel keeps 2047"));
  state.check();
}

TEST_CASE("ensure: a computed assignment after ours → said, nothing changed") {
  GrubRoot machine;
  machine.root.file("/etc/default/grub.d/zzz.cfg", "eval \"GRUB_CMDLINE\"_LINUX=quiet\n");
  const Unchanged state(machine);
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(contains(outcome.error().text(), "don't come to a command line with 'iommu=pt'"));
  state.check();
}

TEST_CASE("ensure: somebody else's file under our name → conflict, nothing is changed") {
  GrubRoot machine;
  machine.root.file(GrubDropin::dropin_path, "GRUB_TIMEOUT=3\n");
  const Unchanged state(machine);
  CHECK(exit_status_of(ensure(machine.system, {}).error().code) == ExitStatus::conflict);
  CHECK(exit_status_of(revert(machine.system, {}).error().code) == ExitStatus::conflict);
  state.check();
}

TEST_CASE("our file was edited since → ensure and revert leave it alone, --force writes it anew") {
  GrubRoot machine;
  REQUIRE(ensure(machine.system, {}));
  const auto ours = machine.system.read(GrubDropin::dropin_path).value();
  machine.root.file(GrubDropin::dropin_path, ours + "GRUB_TIMEOUT=3\n");
  const Unchanged state(machine);
  CHECK(exit_status_of(ensure(machine.system, {}).error().code) == ExitStatus::conflict);
  CHECK(exit_status_of(revert(machine.system, {}).error().code) == ExitStatus::conflict);
  state.check();
  CHECK(ensure(machine.system, {.force = true}).value().status == ExitStatus::good);
}

TEST_CASE("ensure: grub-probe doesn't work here → deferred, the settings are in place") {
  GrubRoot machine;
  machine.system.on("grub-probe", failed(1, "grub-probe: error: cannot find a device for /\n"));
  const auto before = machine.config();
  const auto rehearsed = ensure(machine.system, {.dry_run = true}).value();
  CHECK(rehearsed.result == "would-change");
  CHECK(said(rehearsed, "cannot find a device"));
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  CHECK(outcome.result == "deferred");
  REQUIRE(outcome.deferred);
  CHECK(contains(*outcome.deferred, "cannot find a device"));
  CHECK(outcome.changed);
  CHECK(machine.config() == before);
  CHECK(contains(evaluate_grub_settings(machine.system).value().linux_all, "iommu=pt"));
  CHECK_FALSE(ensure(machine.system, {}).value().changed);
}

TEST_CASE("ensure: no grub.cfg yet → deferred; the first one that's generated has our word") {
  GrubRoot machine;
  machine.root.remove("/boot/grub/grub.cfg");
  // A GRUB that knows nothing of boot loader entries gets no script to heal them.
  machine.root.file("/etc/grub.d/10_linux", "#!/bin/sh\n");
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  CHECK(outcome.deferred);
  CHECK_FALSE(machine.system.exists("/etc/grub.d/99_peerpath"));
  CHECK_FALSE(machine.system.exists("/boot/grub/grub.cfg"));
  CHECK(audit(machine.system, {}).value().status == ExitStatus::unknown);
}

TEST_CASE("ensure: a generator that loses entries → the old file stays, and it's told") {
  GrubRoot machine;
  const auto before = machine.config();
  const auto mode = machine.system.info("/boot/grub/grub.cfg").value().mode;
  std::string expected = "it has 0 bootable entries, there were 5";
  SECTION("all: a root file system on a loop device") {
    machine.kernels.clear();
  }
  SECTION("one kernel") {
    machine.kernels.pop_back();
    expected = "it has 3 bootable entries, there were 5";
  }
  SECTION("it fails") {
    machine.system.on("/usr/sbin/grub-mkconfig", failed(1, "one\ngrub-mkconfig: no memory\n"));
    expected = "ended with status 1: grub-mkconfig: no memory";
  }
  SECTION("it succeeds and writes nothing") {
    machine.system.on("/usr/sbin/grub-mkconfig", peerpath::test::succeeded());
    expected = "the generator wrote nothing";
  }
  SECTION("it writes half a file") {
    machine.system.on("/usr/sbin/grub-mkconfig", [&](const Command& command) {
      machine.root.file(command.argv.back(), "menuentry 'x' {\n linux /boot/vml");
      return peerpath::test::succeeded();
    });
    expected = "without";
  }
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::failed);
  CHECK(outcome.result == "failed");
  INFO(outcome.messages.back());
  CHECK(said(outcome, expected));
  CHECK(machine.config() == before);
  CHECK(machine.system.info("/boot/grub/grub.cfg").value().mode == mode);
  CHECK(machine.system.list("/boot/grub").value() == std::vector<std::string>{"grub.cfg"});
  // What we wrote ourselves stays, for whoever generates the next one.
  CHECK(machine.system.exists(GrubDropin::dropin_path));
}

TEST_CASE("ensure: leftovers of a generator that was killed are cleared") {
  GrubRoot machine;
  machine.root.file("/boot/grub/grub.cfg.peerpath-new", "half");
  machine.root.file("/boot/grub/grub.cfg.peerpath-new.new", "half");
  REQUIRE(ensure(machine.system, {}));
  CHECK(machine.system.list("/boot/grub").value() == std::vector<std::string>{"grub.cfg"});
}

TEST_CASE("ensure --dry-run: says what it would do, does nothing") {
  GrubRoot machine;
  const Unchanged state(machine);
  const auto outcome = ensure(machine.system, {.dry_run = true}).value();
  CHECK(outcome.result == "would-change");
  CHECK_FALSE(outcome.changed);
  REQUIRE(outcome.changes.size() == 2);
  CHECK(outcome.changes[0].path == GrubDropin::dropin_path);
  CHECK(outcome.changes[1].path == "/boot/grub/grub.cfg");
  state.check();
  CHECK(revert(machine.system, {.dry_run = true}).value().changes.empty());
  REQUIRE(ensure(machine.system, {}));
  const Unchanged ensured(machine);
  CHECK(revert(machine.system, {.dry_run = true}).value().changes.size() == 2);
  ensured.check();
}

TEST_CASE("ensure: a failed step undoes the earlier ones") {
  GrubRoot machine;
  // The ledger can't be written: a directory has its name.
  machine.root.directory("/var/lib/peerpath/ledger.json");
  auto before = snapshot(machine.root.path());
  CHECK_FALSE(ensure(machine.system, {}));
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

TEST_CASE("ensure: the last thing that's noted fails → what was generated is taken back, too") {
  GrubRoot machine;
  const auto config = machine.config();
  const std::string directory = "/var/lib/peerpath";
  const std::string settings = machine.root.path() + std::string(GrubDropin::dropin_path);
  bool undone = true;
  machine.system.on("/usr/sbin/grub-mkconfig", [&](const Command& command) {
    // The ledger was written once; it can't be a second time.
    machine.root.file(directory + "/.ledger.json.peerpath-new/in-the-way", "");
    if (!undone) {
      // And our settings file can't be removed.
      std::filesystem::rename(settings, settings + ".aside");
      machine.root.file(std::string(GrubDropin::dropin_path) + "/in-the-way", "");
    }
    return machine.generate(command);
  });
  SECTION("the settings go") {
    const auto outcome = ensure(machine.system, {});
    REQUIRE_FALSE(outcome);
    CHECK(contains(outcome.error().text(), "ledger.json"));
    CHECK_FALSE(machine.system.exists(GrubDropin::dropin_path));
    CHECK_FALSE(machine.system.exists(directory + "/ledger.json"));
  }
  SECTION("the settings can't be undone → the ledger stays, and the next run goes on from it") {
    undone = false;
    const auto outcome = ensure(machine.system, {});
    REQUIRE_FALSE(outcome);
    CHECK(contains(outcome.error().text(), "and undoing it"));
    CHECK(contains(outcome.error().text(), "zz-peerpath.cfg"));
    CHECK(machine.system.exists(directory + "/ledger.json"));
    std::filesystem::remove_all(settings);
    std::filesystem::rename(settings + ".aside", settings);
  }
  CHECK(machine.config() == config);
  std::filesystem::remove_all(machine.root.path() + directory + "/.ledger.json.peerpath-new");
  machine.system.on("/usr/sbin/grub-mkconfig",
                    [&](const Command& command) { return machine.generate(command); });
  CHECK(ensure(machine.system, {}).value().result == "changed");
  CHECK(count(machine.config(), "iommu=pt") == 5);
  CHECK(revert(machine.system, {}).value().result == "changed");
  CHECK(machine.config() == config);
  CHECK_FALSE(machine.system.exists(directory));
}

TEST_CASE("the ledger: lost → revert still finds our file by its mark") {
  GrubRoot machine;
  const auto config = machine.config();
  REQUIRE(ensure(machine.system, {}));
  machine.root.remove("/var/lib/peerpath");
  const auto outcome = revert(machine.system, {}).value();
  CHECK(outcome.changed);
  CHECK_FALSE(machine.system.exists(GrubDropin::dropin_path));
  CHECK(machine.config() == config);
}

TEST_CASE("the ledger: unreadable → an error that names it, nothing is changed") {
  GrubRoot machine;
  REQUIRE(ensure(machine.system, {}));
  const auto* content =
      GENERATE("", "{", "[]", "{\"schema\":\"other\"}", "\xff\xfe",
               "{\"schema\":\"peerpath.ledger\",\"schema_version\":1,\"edits\":[1e99]}");
  machine.root.file(ledger_path, content);
  const Unchanged state(machine);
  const auto outcome = revert(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(contains(outcome.error().text(), machine.root.path() + "/var/lib/peerpath/ledger.json"));
  state.check();
}

TEST_CASE("the ledger: it reads back as it was written") {
  TempRoot root;
  root.directory("/var/lib/peerpath");
  Ledger ledger{.boot_loaders = {"grub", "bls"}};
  ledger.edits.push_back({"/f", 7, " x", 9, digest_of("y"), {7, 8}, timespec{9, 10}});
  ledger.theirs = {"/g"};
  ledger.files.push_back({"/a", "content\n"});
  ledger.artefacts.push_back({"/b", 12, digest_of("x"), {5, 6}});
  ledger.directories.push_back({"/c", {1, 2}, timespec{3, 4}});
  ledger.directories.push_back({"/d", {1, 2}, std::nullopt});
  ledger.created = {"/e"};
  ledger.tools = {{"tool", true}, {"other", false}};
  REQUIRE(save_ledger(root.system(), ledger));
  const auto read = load_ledger(root.system()).value().value();
  CHECK(read.boot_loaders == ledger.boot_loaders);
  CHECK(read.edits.at(0).offset == 7);
  CHECK(read.edits.at(0).inserted == " x");
  CHECK(read.edits.at(0).digest == digest_of("y"));
  CHECK(read.edits.at(0).before.tv_nsec == 8);
  CHECK(read.edits.at(0).after->tv_sec == 9);
  CHECK(read.theirs == ledger.theirs);
  CHECK(read.files.at(0).content == "content\n");
  CHECK(read.artefacts.at(0).digest == digest_of("x"));
  CHECK(read.artefacts.at(0).mtime.tv_nsec == 6);
  CHECK(read.directories.at(0).after->tv_sec == 3);
  CHECK_FALSE(read.directories.at(1).after);
  CHECK(read.created == ledger.created);
  CHECK(read.done("tool"));
  CHECK(read.asked("other"));
  CHECK_FALSE(read.done("other"));
  CHECK_FALSE(read.asked("third"));
}

TEST_CASE("revert: GRUB was removed meanwhile → our files go all the same") {
  GrubRoot machine;
  REQUIRE(ensure(machine.system, {}));
  machine.root.remove("/usr/sbin/grub-mkconfig");
  CHECK(revert(machine.system, {}).value().changed);
  CHECK_FALSE(machine.system.exists(GrubDropin::dropin_path));
  CHECK_FALSE(machine.system.exists("/var/lib/peerpath"));
}

TEST_CASE("a run that was killed: the next ensure completes, the next revert undoes") {
  GrubRoot machine;
  const auto before = snapshot(machine.root.path());
  // As after the ledger, and the settings file, and before grub.cfg.
  machine.system.on("/usr/sbin/grub-mkconfig",
                    [](const Command&) -> CommandResult { throw std::runtime_error("killed"); });
  CHECK_THROWS(ensure(machine.system, {}));
  CHECK(machine.system.exists(GrubDropin::dropin_path));
  machine.system.on("/usr/sbin/grub-mkconfig",
                    [&](const Command& command) { return machine.generate(command); });
  SECTION("ensure") {
    CHECK(ensure(machine.system, {}).value().status == ExitStatus::good);
    CHECK(count(machine.config(), "iommu=pt") == 5);
  }
  REQUIRE(revert(machine.system, {}));
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

TEST_CASE("a revert that couldn't finish: the next one does") {
  GrubRoot machine;
  const auto before = snapshot(machine.root.path());
  REQUIRE(ensure(machine.system, {}));
  SECTION("the generator failed") {
    machine.system.on("/usr/sbin/grub-mkconfig", failed(1, "no\n"));
    CHECK(revert(machine.system, {}).value().status == ExitStatus::failed);
  }
  SECTION("it had to be deferred") {
    machine.system.on("grub-probe", failed(1, "no device\n"));
    CHECK(revert(machine.system, {}).value().result == "deferred");
  }
  SECTION("it was killed") {
    machine.system.on("/usr/sbin/grub-mkconfig",
                      [](const Command&) -> CommandResult { throw std::runtime_error("killed"); });
    CHECK_THROWS(revert(machine.system, {}));
  }
  CHECK_FALSE(machine.system.exists(GrubDropin::dropin_path));
  CHECK(count(machine.config(), "iommu=pt") == 5);
  machine.system.on("grub-probe", peerpath::test::succeeded());
  machine.system.on("/usr/sbin/grub-mkconfig",
                    [&](const Command& command) { return machine.generate(command); });
  CHECK(revert(machine.system, {}).value().result == "changed");
  CHECK(count(machine.config(), "iommu=pt") == 0);
  CHECK_FALSE(machine.system.exists("/var/lib/peerpath"));
  auto after = snapshot(machine.root.path());
  CHECK(after.at("boot/grub/grub.cfg") == before.at("boot/grub/grub.cfg"));
}

TEST_CASE("revert: words that were never ours stay, without a trace of us") {
  GrubRoot machine;
  machine.root.file("/boot/grub/grub.cfg", grub_config(machine.kernels, "iommu=pt", ""));
  const Unchanged state(machine);
  CHECK(revert(machine.system, {}).value().result == "unchanged");
  state.check();
}

TEST_CASE("revert: what killed runs left half-written goes, too") {
  GrubRoot machine;
  const auto before = snapshot(machine.root.path());
  REQUIRE(ensure(machine.system, {}));
  machine.root.file("/var/lib/peerpath/.ledger.json.peerpath-new", "half")
      .file("/etc/default/grub.d/.zz-peerpath.cfg.peerpath-new", "half")
      .file("/boot/grub/.grub.cfg.peerpath-new", "half")
      .file("/boot/grub/grub.cfg.peerpath-new", "half");
  REQUIRE(revert(machine.system, {}));
  auto after = snapshot(machine.root.path());
  // Somebody changed these directories after us, as far as we can tell.
  for (const auto* directory : {"etc/default/grub.d", "boot/grub"}) {
    after[directory] = before.at(directory);
  }
  CHECK(differences(before, after) == "");
}

TEST_CASE("revert: an empty state directory of a run that was killed at once") {
  GrubRoot machine;
  machine.root.directory("/var/lib/peerpath");
  REQUIRE(revert(machine.system, {}));
  CHECK_FALSE(machine.system.exists("/var/lib/peerpath"));
}

TEST_CASE("ensure: a generator that outlived a killed run can't reach grub.cfg any more") {
  GrubRoot machine;
  std::string fresh;
  machine.system.on("/usr/sbin/grub-mkconfig", [&](const Command& command) {
    fresh = command.argv.back();
    return machine.generate(command);
  });
  machine.root.file("/elsewhere", "");
  REQUIRE(ensure(machine.system, {}));
  const auto config = machine.config();
  // The other one's file is gone; what it writes now lands beside, never in grub.cfg.
  CHECK_FALSE(machine.system.exists(fresh));
  machine.root.file(fresh, "half");
  CHECK(machine.config() == config);
  CHECK(machine.system.info("/boot/grub/grub.cfg").value().mode == 0444);
}

TEST_CASE("audit, ensure: a place that leads elsewhere → could not tell") {
  GrubRoot machine;
  machine.root.file("/boot/grub/custom.cfg", "menuentry x {\n configfile /other.cfg\n}\n");
  CHECK(ensure(machine.system, {}).value().status == ExitStatus::unknown);
  const auto outcome = audit(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::unknown);
  CHECK(said(outcome, "custom.cfg:2: what 'configfile /other.cfg' leads to isn't known"));
}

TEST_CASE("platforms: refused ones are left as they are, and it's said why") {
  GrubRoot machine;
  const auto check = [&](ExitStatus status, std::string_view why) {
    const Unchanged state(machine);
    const auto outcome = ensure(machine.system, {}).value();
    CHECK(outcome.status == status);
    CHECK(said(outcome, why));
    state.check();
  };
  SECTION("Xen") {
    machine.root.file("/boot/grub/grub.cfg", machine.config() + "multiboot2 /boot/xen-4.17.gz\n");
    check(ExitStatus::unsupported, "Xen");
  }
  SECTION("SEV-SNP host") {
    machine.system.booted = true;
    machine.root.file("/sys/module/kvm_amd/parameters/sev_snp", "Y\n");
    check(ExitStatus::unsupported, "SNP");
  }
  SECTION("arm64 unasked") {
    machine.root.file("/bin/sh", peerpath::test::elf_header('\xb7'));
    check(ExitStatus::not_applicable, "arm64");
  }
  SECTION("another architecture") {
    machine.root.file("/bin/sh", peerpath::test::elf_header(21));
    check(ExitStatus::not_applicable, "neither");
  }
}

TEST_CASE("arm64: asked for → only where every kernel is 6.11 or later") {
  GrubRoot machine;
  machine.root.file("/bin/sh", peerpath::test::elf_header('\xb7'));
  SECTION("an older kernel") {
    const auto outcome = ensure(machine.system, {.arm64_passthrough = true}).value();
    CHECK(outcome.status == ExitStatus::unsupported);
    CHECK(said(outcome, "6.11"));
  }
  SECTION("new ones") {
    machine.kernels = {"6.12.0-arm64"};
    machine.root.file("/boot/vmlinuz-6.12.0-arm64", "");
    machine.settings("", "quiet");
    const auto outcome = ensure(machine.system, {.arm64_passthrough = true}).value();
    CHECK(outcome.status == ExitStatus::good);
    CHECK(contains(machine.config(), "iommu.passthrough=1"));
  }
}

TEST_CASE("SEV-SNP and the running kernel are asked of the booted system only") {
  GrubRoot machine;
  machine.root.file("/sys/module/kvm_amd/parameters/sev_snp", "Y\n");
  machine.root.file("/proc/cmdline", "quiet\n");
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  CHECK_FALSE(outcome.reboot_required);
}

TEST_CASE("reboot_required: the booted system, until it runs passthrough") {
  GrubRoot machine;
  machine.system.booted = true;
  machine.system.release = "6.1.0-35-amd64";
  machine.root.file("/proc/cmdline", "BOOT_IMAGE=/boot/vmlinuz-6.1.0-35-amd64 quiet\n");
  CHECK(ensure(machine.system, {}).value().reboot_required);
  CHECK(ensure(machine.system, {}).value().reboot_required);
  machine.root.file("/proc/cmdline", "quiet iommu=pt\n");
  CHECK_FALSE(ensure(machine.system, {}).value().reboot_required);
}

TEST_CASE("no boot loader that we know: said, with what to do, nothing changed") {
  GrubRoot machine;
  machine.root.remove("/usr/sbin/grub-mkconfig");
  const Unchanged state(machine);
  for (const auto operation : {ensure, audit}) {
    const auto outcome = operation(machine.system, {}).value();
    CHECK(outcome.status == ExitStatus::unsupported);
    CHECK(said(outcome, "no boot loader found"));
    CHECK(said(outcome, "iommu=pt"));
  }
  CHECK(revert(machine.system, {}).value().result == "unchanged");
  state.check();
}

TEST_CASE("a root without Linux: an error that names it") {
  TempRoot root;
  peerpath::test::FakeSystem system(root.path());
  for (const auto operation : {ensure, revert, audit}) {
    const auto outcome = operation(system, {});
    REQUIRE_FALSE(outcome);
    CHECK(contains(outcome.error().text(), "'" + root.path() + "': not the root of a Linux"));
    CHECK(exit_status_of(outcome.error().code) == ExitStatus::failed);
  }
}

TEST_CASE("audit: every kernel's mode, and a status that's never better than the worst") {
  GrubRoot machine;
  CHECK(audit(machine.system, {}).value().status == ExitStatus::check_failed);
  REQUIRE(ensure(machine.system, {}));
  const Unchanged state(machine);
  const auto outcome = audit(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  CHECK(outcome.result == "passthrough");
  state.check();
  SECTION("one of them by a variable") {
    machine.root.file("/boot/grub/custom.cfg",
                      "search --set=dev x\nlinux /boot/vmlinuz-6.1.0-35-amd64 $dev\n");
    CHECK(audit(machine.system, {}).value().status == ExitStatus::unknown);
  }
  SECTION("of one kernel") {
    machine.root.file("/boot/grub/custom.cfg", "linux /boot/vmlinuz-6.1.0-31-amd64 x\n");
    CHECK(audit(machine.system, {.kernel = "6.1.0-35-amd64"}).value().status == ExitStatus::good);
    CHECK(audit(machine.system, {.kernel = "6.1.0-31-amd64"}).value().status ==
          ExitStatus::check_failed);
    CHECK(audit(machine.system, {.kernel = "5.10"}).value().status == ExitStatus::unknown);
  }
}
