// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/ostree.hpp"

#include "boot/ledger.hpp"
#include "boot/vendor_root.hpp"
#include "cmdline/tokenise.hpp"
#include "support/catch.hpp"

using namespace peerpath;
using namespace peerpath::boot;
using namespace peerpath::test;

namespace {

using Argv = std::vector<std::string>;
const Argv bootc_help{"bootc", "loader-entries", "set-options-for-source", "--help"};
const Argv bootc_set{"bootc",    "loader-entries", "set-options-for-source",
                     "--source", "peerpath",       "--options",
                     "iommu=pt"};
const Argv bootc_drop{"bootc", "loader-entries", "set-options-for-source", "--source", "peerpath"};
const Argv kargs_list{"rpm-ostree", "kargs"};
const Argv kargs_append{"rpm-ostree", "kargs", "--append=iommu=pt"};
const Argv kargs_delete{"rpm-ostree", "kargs", "--delete=iommu=pt"};

/// A booted Fedora of ostree's with the current deployment and the one before it.
struct OstreeRoot : VendorRoot {
  std::string staged;  ///< the command line of the next deployment; empty: there's none

  explicit OstreeRoot(const std::string& options = "root=UUID=1 rw ostree=/ostree/boot.1/x") {
    root.directory("/ostree/repo").directory("/run/ostree");
    root.file("/run/ostree-booted", "").file("/proc/cmdline", "root=UUID=1\n");
    root.file("/boot/grub2/grub.cfg", "blscfg\n");
    root.file("/boot/ostree/fedora-1/vmlinuz-6.12.0-1.x86_64", "kernel");
    deploy(1, "root=UUID=1 rw ostree=/ostree/boot.1/old");
    deploy(2, options);
    system.booted = true;
    system.release = "6.12.0-1.x86_64";
  }

  void deploy(int rank, const std::string& options) {
    root.file(fmt::format("/boot/loader/entries/ostree-{}.conf", rank),
              fmt::format("title Fedora (ostree:{0})\nversion {0}\noptions {1}\n"
                          "linux /ostree/fedora-1/vmlinuz-6.12.0-1.x86_64\n",
                          rank, options));
  }
  [[nodiscard]] std::string options() {
    for (const auto& line : lines_of("/boot/loader/entries/ostree-2.conf")) {
      if (line.starts_with("options ")) return line.substr(8);
    }
    return "";
  }

  void with_bootc(bool keeps_sources = true) {
    program("/usr/bin/bootc");
    system.on("bootc", [this, keeps_sources](const Command& command) {
      if (!keeps_sources) return failed(2, "error: unrecognized subcommand\n");
      if (command.argv == bootc_set) stage(options() + " iommu=pt");
      if (command.argv == bootc_drop) stage(without_word(options()));
      return succeeded();
    });
  }

  void with_rpm_ostree() {
    program("/usr/bin/rpm-ostree");
    system.on("rpm-ostree", [this](const Command& command) {
      const auto now = staged.empty() ? options() : staged;
      if (command.argv == kargs_list) return succeeded(now + "\n");
      if (command.argv == kargs_append) stage(now + " iommu=pt");
      if (command.argv == kargs_delete) stage(without_word(now));
      return succeeded();
    });
  }

  void reboot() {
    if (!staged.empty()) deploy(2, staged);
    staged.clear();
    root.remove("/run/ostree/staged-deployment");
  }

 private:
  static std::string without_word(const std::string& line) {
    std::string rest;
    for (const auto& token : cmdline::tokenise(line)) {
      if (token.text == "iommu=pt") continue;
      rest += (rest.empty() ? "" : " ") + std::string(token.text);
    }
    return rest;
  }
  void stage(const std::string& line) {
    staged = line;
    root.file("/run/ostree/staged-deployment", "");
  }
  std::vector<std::string> lines_of(std::string_view path) {
    std::vector<std::string> all;
    for (std::string rest = text(path); !rest.empty();) {
      const auto end = rest.find('\n');
      all.push_back(rest.substr(0, end));
      rest = end == std::string::npos ? "" : rest.substr(end + 1);
    }
    return all;
  }
};

}  // namespace

TEST_CASE("ostree: booted with bootc → a source of our own, once; revert drops it") {
  OstreeRoot machine;
  machine.with_bootc();
  const NothingChanged state(machine.root, {"boot/loader/entries/", "run"});
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.boot_loader == "ostree");
  CHECK(outcome.status == ExitStatus::good);
  CHECK(outcome.result == "deferred");
  CHECK(outcome.changed);
  CHECK(said(outcome, "at shutdown; the next reboot brings the word"));
  CHECK(times_run(machine.system, bootc_set) == 1);

  // Before the reboot it's waited for, not asked for again.
  const auto again = ensure(machine.system, {}).value();
  CHECK(again.result == "deferred");
  CHECK_FALSE(again.changed);
  CHECK(times_run(machine.system, bootc_set) == 1);
  CHECK(audit(machine.system, {}).value().status != ExitStatus::good);

  machine.reboot();
  CHECK(ensure(machine.system, {}).value().result == "unchanged");
  CHECK(audit(machine.system, {}).value().status == ExitStatus::good);
  CHECK(times_run(machine.system, bootc_set) == 1);

  CHECK(revert(machine.system, {}).value().result == "changed");
  CHECK(times_run(machine.system, bootc_drop) == 1);
  machine.reboot();
  CHECK(revert(machine.system, {}).value().result == "unchanged");
  CHECK(times_run(machine.system, bootc_drop) == 1);
  state.check();
}

TEST_CASE("ostree: a deployment without the word took the place of ours → asked for again") {
  OstreeRoot machine;
  machine.with_bootc();
  REQUIRE(ensure(machine.system, {}));
  machine.staged.clear();
  machine.reboot();
  CHECK(ensure(machine.system, {}).value().changed);
  CHECK(times_run(machine.system, bootc_set) == 2);
}

TEST_CASE("ostree: without a bootc that keeps sources → rpm-ostree, once; revert deletes") {
  OstreeRoot machine;
  machine.with_rpm_ostree();
  SECTION("none at all") {}
  SECTION("an older one") {
    machine.with_bootc(false);
  }
  const NothingChanged state(machine.root, {"boot/loader/entries/", "run"});
  CHECK(ensure(machine.system, {}).value().result == "deferred");
  CHECK(ensure(machine.system, {}).value().result == "deferred");
  CHECK(times_run(machine.system, kargs_append) == 1);
  machine.reboot();
  CHECK(ensure(machine.system, {}).value().result == "unchanged");
  REQUIRE(revert(machine.system, {}));
  CHECK(times_run(machine.system, kargs_delete) == 1);
  machine.reboot();
  state.check();
}

TEST_CASE("ostree: words with blanks are compared as they're stored (coreos/rpm-ostree#2159)") {
  const std::string options = R"(root=UUID=1 bar="hello iommu=pt world" rw)";
  OstreeRoot machine(options);
  machine.with_rpm_ostree();
  REQUIRE(ensure(machine.system, {}));
  // What's inside the quotes isn't our word.
  CHECK(times_run(machine.system, kargs_append) == 1);
  machine.reboot();
  CHECK(machine.options() == options + " iommu=pt");
  REQUIRE(revert(machine.system, {}));
  machine.reboot();
  CHECK(machine.options() == options);
}

TEST_CASE("ostree: another value by now → nothing is deleted (coreos/rpm-ostree#4718)") {
  OstreeRoot machine;
  machine.with_rpm_ostree();
  REQUIRE(ensure(machine.system, {}));
  machine.staged.clear();
  machine.reboot();
  machine.deploy(2, "root=UUID=1 iommu=soft iommu.passthrough=1");
  const auto outcome = revert(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  CHECK(times_run(machine.system, kargs_delete) == 0);
  CHECK_FALSE(machine.system.exists("/var/lib/peerpath"));
}

TEST_CASE(
    "ostree: kargs.d that never reached the entry isn't taken for done (bootc-dev/bootc#883, "
    "osbuild/bootc-image-builder#902)") {
  OstreeRoot machine;
  machine.root.file(Ostree::kargs_path, "kargs = [\"iommu=pt\"]\n");
  machine.with_bootc();
  CHECK(audit(machine.system, {}).value().status == ExitStatus::check_failed);
  CHECK(ensure(machine.system, {}).value().changed);
  CHECK(times_run(machine.system, bootc_set) == 1);
}

TEST_CASE("ostree: a container build or an image → nothing is run, what brings the word is said") {
  OstreeRoot machine;
  machine.system.booted = false;
  machine.program("/usr/bin/rpm-ostree");
  std::string until = "'rpm-ostree kargs --append=iommu=pt' on the booted host";
  SECTION("without our kargs.d") {}
  SECTION("with it, but nobody who reads it") {
    machine.root.file(Ostree::kargs_path, "kargs = [\"iommu=pt\"]\n");
  }
  SECTION("with it and bootc") {
    machine.root.file(Ostree::kargs_path, "kargs = [\"iommu=pt\"]\n");
    machine.program("/usr/bin/bootc");
    until = "'/usr/lib/bootc/kargs.d' takes effect with the next deployment";
  }
  SECTION("with bootc and files that don't come to passthrough") {
    machine.root.file(
        Ostree::kargs_path,
        GENERATE("", "kargs = []\n", "kargs = ['iommu=pt']\nmatch-architectures = ['aarch64']\n"));
    machine.program("/usr/bin/bootc");
  }
  SECTION("with bootc, and ours behind words for init or in an open quote") {
    machine.root.file(Ostree::kargs_path, "kargs = ['iommu=pt']\n");
    machine.root.file("/usr/lib/bootc/kargs.d/10-a.toml",
                      GENERATE("kargs = ['--']\n", "kargs = ['a=\"b']\n"));
    machine.program("/usr/bin/bootc");
  }
  SECTION("no entries yet") {
    machine.root.remove("/boot/loader");
  }
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  CHECK(outcome.result == "deferred");
  CHECK(said(outcome, until));
  CHECK(machine.system.ran().empty());
  CHECK(revert(machine.system, {}).value().result == "unchanged");
  state.check();
}

TEST_CASE("ostree: a container build whose other kargs.d contradict, or can't be read → said") {
  OstreeRoot machine;
  machine.system.booted = false;
  machine.root.file(Ostree::kargs_path, "kargs = [\"iommu=pt\"]\n").remove("/boot/loader");
  const std::string other = "/usr/lib/bootc/kargs.d/90-x.toml";
  SECTION("a contrary word") {
    machine.root.file(other, "# ours\nkargs = [\n  \"quiet\", # x\n  'a iommu=nopt',\n]\n");
    const auto outcome = ensure(machine.system, {}).value();
    CHECK(outcome.status == ExitStatus::conflict);
    CHECK(outcome.conflict->word == "iommu=nopt");
    CHECK(outcome.conflict->file == other);
    CHECK(outcome.conflict->line == 4);
    const auto forced = ensure(machine.system, {.force = true});
    REQUIRE_FALSE(forced);
    CHECK(forced.error().code == Errc::unsupported);
    CHECK(contains(forced.error().text(), other + ":4'"));
  }
  SECTION("for another architecture") {
    machine.root.file(other, "match-architectures = [\"aarch64\"]\nkargs = ['iommu=nopt']\n");
    CHECK(ensure(machine.system, {}).value().result == "deferred");
  }
  SECTION("before ours") {
    machine.root.file("/usr/lib/bootc/kargs.d/10-x.toml", "kargs = ['iommu=nopt']\n");
    CHECK(ensure(machine.system, {}).value().result == "deferred");
  }
  SECTION("broken") {
    const auto [text, line] = GENERATE(table<std::string, int>({
        {"kargs = [ iommu\n", 1},
        {"\nkargs = [\"a\"\n", 3},
        {"kargs = \"a\"\n", 1},
        {"kargs = [\"a]\n\"\n", 1},
        {"kargs = [\"a\"]\nkarg = []\n", 2},
        {"kargs = [\"a\\n\"]\n", 1},
    }));
    machine.root.file(other, text);
    const auto outcome = ensure(machine.system, {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == Errc::malformed);
    CHECK(contains(outcome.error().text(), fmt::format("{}': line {}: ", other, line)));
  }
}

TEST_CASE("ostree: the entry has it already → nothing is run, and it stays") {
  OstreeRoot machine("root=UUID=1 iommu=pt ostree=/x");
  machine.with_bootc();
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.result == "unchanged");
  CHECK(outcome.status == ExitStatus::good);
  CHECK(said(outcome, "ostree-1.conf: an earlier deployment, kept for a rollback"));
  REQUIRE(outcome.entries.size() == 1);
  CHECK(revert(machine.system, {}).value().result == "unchanged");
  CHECK(machine.system.ran().empty());
  state.check();
}

TEST_CASE("ostree: a contrary word → conflict, nothing is asked for, unless it's forced") {
  OstreeRoot machine;
  machine.with_rpm_ostree();
  std::string file;
  SECTION("in the entry") {
    machine.deploy(2, "root=UUID=1 iommu=nopt");
    file = "/boot/loader/entries/ostree-2.conf";
  }
  SECTION("in the deployment that's staged") {
    machine.staged = "root=UUID=1 iommu.passthrough=0";
  }
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::conflict);
  REQUIRE(outcome.conflict);
  CHECK(outcome.conflict->file == file);
  CHECK(times_run(machine.system, kargs_append) == 0);
  state.check();
  REQUIRE(ensure(machine.system, {.force = true}));
  CHECK(times_run(machine.system, kargs_append) == 1);
}

TEST_CASE("ostree: the tool fails → an error with its words, and no trace") {
  OstreeRoot machine;
  machine.program("/usr/bin/bootc");
  machine.system.on("bootc", [](const Command& command) {
    return command.argv == bootc_help ? succeeded() : failed(1, "error: no space\n");
  });
  const NothingChanged state(machine.root);
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(exit_status_of(outcome.error().code) == ExitStatus::failed);
  CHECK(contains(outcome.error().text(), "no space"));
  state.check();
}

TEST_CASE("ostree: no tool that we know → unsupported, with what to add") {
  OstreeRoot machine;
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(exit_status_of(outcome.error().code) == ExitStatus::unsupported);
  CHECK(contains(outcome.error().text(), "add 'iommu=pt'"));
}

TEST_CASE("ostree: revert in an image of what was asked for on the host → deferred, remembered") {
  OstreeRoot machine;
  machine.with_bootc();
  REQUIRE(ensure(machine.system, {}));
  machine.system.booted = false;
  CHECK(revert(machine.system, {}).value().result == "deferred");
  CHECK(times_run(machine.system, bootc_drop) == 0);
  machine.system.booted = true;
  CHECK(revert(machine.system, {}).value().result == "changed");
  CHECK(times_run(machine.system, bootc_drop) == 1);
  CHECK_FALSE(machine.system.exists("/var/lib/peerpath"));
}
