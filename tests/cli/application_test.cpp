// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/application.hpp"

#include "boot/grub_root.hpp"
#include "boot/operations.hpp"
#include "cli/command.hpp"
#include "cli/settings.hpp"
#include "support/catch.hpp"
#include "support/snapshot.hpp"
#include "support/temp_root.hpp"
#include "sys/process.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ostream>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace peerpath;
using peerpath::test::snapshot;
using peerpath::test::TempRoot;

namespace {

struct Ran {
  int status;
  std::string out;
  std::string err;

  [[nodiscard]] bool says(std::string_view text) const {
    return (out + err).find(text) != std::string::npos;
  }
};

Ran run(const std::vector<std::string>& arguments, bool terminal = false) {
  std::ostringstream out;
  std::ostringstream err;
  const int status = cli::run_application(arguments, out, err, terminal);
  return {status, out.str(), err.str()};
}

/// The same as somebody who isn't root, in a process of its own. Only the first 4096 bytes.
Ran run_as_nobody(const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    if (::setresuid(nobody, nobody, nobody) != 0) ::_exit(1);
    const auto ran = run(arguments);
    const auto said = (ran.out + ran.err).substr(0, 4096);
    const auto written = ::write(ends[1], said.data(), said.size());
    ::_exit(written == static_cast<ssize_t>(said.size()) ? ran.status : 99);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  ::close(ends[1]);
  std::string said(4096, '\0');
  said.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(ends[0], said.data(), 4096), 0)));
  ::close(ends[0]);
  return {WEXITSTATUS(status), said, ""};
}

/// A root in which a Linux may be, without a boot loader.
struct LinuxRoot {
  TempRoot root;

  LinuxRoot() {
    root.file("/etc/os-release", "ID=debian\n").file("/bin/sh", test::elf_header(62), 0755);
  }
  Ran run(const std::string& command) { return ::run({command, "--root", root.path()}); }
};

/// A machine whose GPU is translated, as a recorded tree has it.
void add_translated_gpu(TempRoot& root) {
  root.file("/sys/bus/pci/devices/0000:3b:00.0/class", "0x030200\n")
      .file("/sys/bus/pci/devices/0000:3b:00.0/vendor", "0x10de\n")
      .file("/sys/bus/pci/devices/0000:3b:00.0/device", "0x2330\n")
      .file("/sys/kernel/iommu_groups/7/type", "DMA-FQ\n")
      .link("/sys/bus/pci/devices/0000:3b:00.0/iommu_group", "/sys/kernel/iommu_groups/7")
      .directory("/sys/class/iommu/dmar0")
      .file("/proc/cmdline", "root=/dev/sda1 iommu=nopt\n")
      .file("/proc/sys/kernel/osrelease", "6.1.0-35-amd64\n")
      .file("/proc/sys/kernel/arch", "x86_64\n");
}

class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Environment() { ::unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("help and version: on standard output, status 0") {
  CHECK(run({"--version"}).out.starts_with("peerpath "));
  const auto help = run({"--help"});
  CHECK(help.status == 0);
  for (const auto* command : cli::all_commands()) {
    INFO(command->name);
    CHECK(help.out.find(command->name) != std::string::npos);
    const auto own = run({std::string(command->name), "--help"});
    CHECK(own.status == 0);
    CHECK(own.out.starts_with("Usage: peerpath " + std::string(command->name)));
    CHECK(own.err.empty());
    CHECK(run({std::string(command->name), "-h"}).out == own.out);
    // Every command has a document for programs.
    CHECK(own.out.find("--json") != std::string::npos);
  }
}

TEST_CASE("usage: what isn't understood is said on standard error, status 2") {
  const std::vector<std::vector<std::string>> wrong{
      {},
      {"nonsense"},
      {"--nonsense"},
      {"audit", "--nonsense"},
      {"audit", "argument"},
      {"audit", "--root"},
      {"ensure", "--forc"},
      {"explain", "a", "b"},
      {"explain", "no.such-id"},
      {"verify", "--match", "zzzz:1"},
      {"verify", "--match", "10de"},
  };
  for (const auto& arguments : wrong) {
    INFO((arguments.empty() ? "" : arguments.back()));
    const auto ran = run(arguments);
    CHECK(ran.status == 2);
    CHECK(ran.out.empty());
    CHECK_FALSE(ran.err.empty());
    auto with_json = arguments;
    with_json.insert(with_json.begin() + (with_json.empty() ? 0 : 1), "--json");
    const auto json = run(with_json);
    CHECK(json.status == 2);
    CHECK(nlohmann::json::parse(json.out).at("exit_status") == 2);
  }
}

TEST_CASE("usage: an argument too many → it's named") {
  CHECK(run({"audit", "extra"}).says("peerpath: audit: unexpected argument 'extra'\n"));
  CHECK(run({"explain", "a", "b"}).says("explain: unexpected argument 'b'\n"));
  // As an option it would be no better.
  CHECK(run({"audit", "--argument", "extra"}).status == 2);
}

TEST_CASE("status: no report → could not tell, and why") {
  if (::access("/run/peerpath/report.json", F_OK) == 0) {
    WARN("not tested: this machine has a report");
    return;
  }
  const auto ran = run({"status"});
  CHECK(ran.status == 4);
  CHECK(ran.err ==
        "peerpath: '/run/peerpath/report.json' isn't there: 'peerpath boot-check' hasn't run "
        "since the boot\n");
  const auto json = run({"status", "--json"});
  CHECK(json.status == 4);
  CHECK(nlohmann::json::parse(json.out).at("exit_status") == 4);
}

TEST_CASE("errors: one line, outermost first; with --json a document, too") {
  const auto plain = run({"audit", "--root", "/nowhere/at/all"});
  CHECK(plain.status == 1);
  CHECK(plain.err == "peerpath: '/nowhere/at/all': no such file or directory\n");
  const auto json = run({"audit", "--json", "--root", "/nowhere/at/all"});
  CHECK(json.status == 1);
  const auto document = nlohmann::json::parse(json.out);
  CHECK(document.at("schema") == "peerpath.error");
  CHECK(document.at("exit_status") == 1);
}

TEST_CASE("a root that holds no Linux: status 1, for each command that changes or audits") {
  TempRoot root;
  root.directory("/somewhere");
  const auto before = snapshot(root.path());
  for (const auto* command : {"ensure", "revert", "audit"}) {
    const auto ran = run({command, "--root", root.path()});
    CHECK(ran.status == 1);
    CHECK(ran.says("not the root of a Linux system"));
  }
  CHECK(snapshot(root.path()) == before);
}

TEST_CASE("verify --root: a translated GPU → status 3, with the word that did it") {
  TempRoot root;
  add_translated_gpu(root);
  const auto ran = run({"verify", "--root", root.path()});
  CHECK(ran.status == 3);
  CHECK(ran.says("iommu.group-type"));
  CHECK(ran.says("iommu=nopt"));
  const auto json = run({"verify", "--json", "--root", root.path()});
  CHECK(json.status == 3);
  const auto document = nlohmann::json::parse(json.out);
  CHECK(json.out.starts_with("{\n  \"schema\": \"peerpath.verify\",\n  \"schema_version\": 1"));
  CHECK(document.at("schema") == "peerpath.verify");
  CHECK(document.at("verdict") == "fail");
  CHECK(document.at("findings").at(0).at("device") == "0000:3b:00.0");
}

TEST_CASE("verify: nothing readable is never ok") {
  TempRoot root;
  SECTION("no /sys") {}
  SECTION("no /proc") {
    add_translated_gpu(root);
    root.remove("/proc").file("/sys/kernel/iommu_groups/7/type", "");
  }
  SECTION("a group that can't be told") {
    add_translated_gpu(root);
    root.remove("/sys/kernel/iommu_groups/7/type");
  }
  const auto ran = run({"verify", "--root", root.path()});
  CHECK((ran.status == 3 || ran.status == 4));
}

TEST_CASE("verify: a device that a group has, but that has no link to it, isn't without IOMMU") {
  TempRoot root;
  add_translated_gpu(root);
  root.remove("/sys/bus/pci/devices/0000:3b:00.0/iommu_group");
  root.link("/sys/kernel/iommu_groups/7/devices/0000:3b:00.0", "../../../../bus/pci/devices/x");
  CHECK(run({"verify", "--root", root.path()}).status == 3);  // the command line asks for it
  root.file("/proc/cmdline", "iommu=pt\n");
  CHECK(run({"verify", "--root", root.path()}).status == 4);
  root.remove("/sys/kernel/iommu_groups").directory("/sys/kernel/other");
  CHECK(run({"verify", "--root", root.path()}).status == 4);
}

TEST_CASE("verify: settings and options choose the devices") {
  TempRoot root;
  add_translated_gpu(root);
  CHECK(run({"verify", "--root", root.path(), "--match", "15b3:*"}).status == 77);
  CHECK(
      run({"verify", "--root", root.path(), "--match", "15b3:*", "--match", "10de:2330"}).status ==
      3);
  CHECK(run({"verify", "--root", root.path(), "--device", "3b:00.0"}).status == 3);
  CHECK(run({"verify", "--root", root.path(), "--device", "ff:00.0"}).status == 1);
  CHECK(run({"verify", "--root", root.path(), "--device", "zz"}).status == 2);
  root.file("/etc/peerpath/peerpath.conf", "match = 1234:*\n");
  CHECK(run({"verify", "--root", root.path()}).status == 77);
  root.file("/etc/peerpath/peerpath.conf.d/10-gpu.conf", "match = 10de:*:03\n");
  CHECK(run({"verify", "--root", root.path()}).status == 3);
}

TEST_CASE("settings: what's wrong in a file is said with the file and the line") {
  TempRoot root;
  add_translated_gpu(root);
  const std::string file = "/etc/peerpath/peerpath.conf";
  std::string line = "line 2: ";
  SECTION("no such setting") {
    root.file(file, "# good\nmatches = 10de:*\n");
  }
  SECTION("no value") {
    root.file(file, "\nmatch\n");
  }
  SECTION("not a yes or no") {
    root.file(file, "\narm64-passthrough = maybe\n");
  }
  SECTION("not a depth of the self-test") {
    root.file(file, "\nselftest = deep\n");
  }
  SECTION("not a number of seconds") {
    root.file(file, "\nselftest-budget = 10min\n");
  }
  SECTION("metrics in a file that node-exporter doesn't read") {
    root.file(file, "\nprometheus-textfile = /var/lib/peerpath.txt\n");
  }
  SECTION("metrics in a file somewhere") {
    root.file(file, "\nprometheus-textfile = peerpath.prom\n");
  }
  SECTION("binary") {
    root.file(file, std::string("#\n\0\n", 4));
  }
  SECTION("a directory") {
    root.directory(file);
    line = "is a directory";
  }
  SECTION("a dangling link") {
    root.link(file, "nowhere");
    line = "no such file";
  }
  for (const auto* command : {"verify", "ensure"}) {
    const auto ran = run({command, "--root", root.path()});
    CHECK(ran.status == 1);
    CHECK(ran.says("'" + root.path() + file + "': " + line));
  }
}

TEST_CASE("settings: comments, empty lines, CRLF and the last value are fine") {
  TempRoot root;
  add_translated_gpu(root);
  root.file("/etc/peerpath/peerpath.conf",
            "# GPUs\r\n\r\nmatch = 1234:*\r\nmatch = 10de:*:0302  # and these\r\n"
            "arm64-passthrough = yes\r\n");
  CHECK(run({"verify", "--root", root.path()}).status == 3);
}

TEST_CASE("settings: the self-test of the check at boot → its depth, or off, and its budget") {
  TempRoot root;
  const auto load = [&] { return cli::load_settings(root.system()).value(); };
  CHECK(load().selftest == gpu::Depth::quick);
  CHECK(load().selftest_budget == std::chrono::seconds(600));
  root.file("/etc/peerpath/peerpath.conf", "selftest = off\nselftest-budget = 30\n");
  CHECK_FALSE(load().selftest);
  CHECK(load().selftest_budget == std::chrono::seconds(30));
  root.file("/etc/peerpath/peerpath.conf.d/a.conf", "selftest = normal\n");
  CHECK(load().selftest == gpu::Depth::normal);
  CHECK(load().selftest_budget == std::chrono::seconds(30));
}

TEST_CASE("settings: the file of the metrics → nowhere, or what is set") {
  TempRoot root;
  const auto load = [&] { return cli::load_settings(root.system()).value(); };
  CHECK(load().prometheus_textfile.empty());
  root.file("/etc/peerpath/peerpath.conf", "prometheus-textfile = /metrics/peerpath.prom\n");
  CHECK(load().prometheus_textfile == "/metrics/peerpath.prom");
}

TEST_CASE("status --format: an unknown one, or with what excludes it → a usage error") {
  CHECK(run({"status", "--format", "xml"}).status == 2);
  CHECK(
      run({"status", "--format", "xml"}).says("'xml': status --format takes npd, nfd, prometheus"));
  CHECK(run({"status", "--format", "npd", "--report", "x"}).says("--format and --report exclude"));
}

TEST_CASE("selftest: options that contradict or can't be → a usage error that names them") {
  CHECK(run({"selftest", "--quick", "--deep"}).status == 2);
  CHECK(run({"selftest", "--gpu", "first"}).says("'first': neither the PCI address nor the UUID"));
  CHECK(run({"selftest", "--budget", "soon"}).says("--budget: 'soon': not a number of seconds"));
  CHECK(run({"selftest", "--max-size", "1T"}).says("--max-size: '1T': not a number of bytes"));
  CHECK(run({"selftest", "--max-size", "1T"}).status == 2);
}

TEST_CASE("colour: on a terminal, unless NO_COLOR or a dumb terminal says no") {
  TempRoot root;
  add_translated_gpu(root);
  const std::vector<std::string> verify{"verify", "--root", root.path()};
  const Environment term("TERM", "xterm");
  CHECK(run(verify, true).says("\x1b["));
  CHECK_FALSE(run(verify, false).says("\x1b["));
  {
    const Environment no_color("NO_COLOR", "1");
    CHECK_FALSE(run(verify, true).says("\x1b["));
  }
  const Environment dumb("TERM", "dumb");
  CHECK_FALSE(run(verify, true).says("\x1b["));
}

TEST_CASE("verify: good findings → a line each; their evidence with --verbose or -v") {
  TempRoot root;
  add_translated_gpu(root);
  root.file("/sys/kernel/iommu_groups/7/type", "identity\n").file("/proc/cmdline", "iommu=pt\n");
  const auto is_told = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"verify", "--root", root.path()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto ran = run(arguments);
    CHECK(ran.says("ok iommu.group-type: "));
    return ran.says("/proc/cmdline: 'iommu=pt': passthrough");
  };
  CHECK_FALSE(is_told({}));
  CHECK(is_told({"--verbose"}));
  CHECK(is_told({"-v"}));
}

TEST_CASE("explain: an id that isn't there → near ones are named") {
  CHECK(run({"explain", "iommu.grouptype"}).says("(near: iommu.group-type)"));
  CHECK(run({"explain", "group-type"}).says("(near: iommu.group-type)"));
  CHECK_FALSE(run({"explain", "nonsense-altogether"}).says("near"));
}

TEST_CASE("a report that can't be written out is a failure, whatever it says") {
  std::ostream broken(nullptr);
  std::ostringstream err;
  CHECK(cli::run_application({"--version"}, broken, err, false) == 1);
  CHECK(err.str().find("standard output") != std::string::npos);
}

TEST_CASE("explain: every id has a text and a document") {
  std::istringstream list(run({"explain"}).out);
  std::string line;
  int count = 0;
  while (std::getline(list, line)) {
    const auto id = line.substr(0, line.find(' '));
    INFO(id);
    const auto ran = run({"explain", id});
    CHECK(ran.status == 0);
    CHECK(ran.says(id));
    const auto json = nlohmann::json::parse(run({"explain", id, "--json"}).out);
    CHECK(json.at("schema") == "peerpath.explain");
    ++count;
  }
  CHECK(count >= 5);
}

TEST_CASE("ensure, audit: a file that only root may read → said so, to who isn't root") {
  if (!is_superuser()) {
    WARN("skipped: only root can become somebody else");
    return;
  }
  test::GrubRoot machine;
  const auto path = machine.root.path();
  REQUIRE(::chmod(path.c_str(), 0755) == 0);
  REQUIRE(::chmod((path + "/boot/grub/grub.cfg").c_str(), 0600) == 0);
  const auto audited = run_as_nobody({"audit", "--root", path});
  INFO(audited.out);
  CHECK(audited.says(path + "/boot/grub/grub.cfg': "));
  CHECK(audited.out.ends_with("; try again as root\n"));
  const auto ensured = run_as_nobody({"ensure", "--root", path});
  INFO(ensured.out);
  CHECK(ensured.out.ends_with("; try again as root\n"));
}

TEST_CASE("audit: Proxmox's list of ESPs or its directory can't be read → never good") {
  if (!is_superuser()) {
    WARN("skipped: only root can become somebody else");
    return;
  }
  test::GrubRoot machine;
  REQUIRE(boot::ensure(machine.system, {}));
  const auto path = machine.root.path();
  REQUIRE(::chmod(path.c_str(), 0755) == 0);
  REQUIRE(::chmod((path + "/boot/grub/grub.cfg").c_str(), 0644) == 0);
  REQUIRE(run_as_nobody({"audit", "--root", path}).status == 0);
  machine.root.file("/etc/kernel/proxmox-boot-uuids", "AAAA-BBBB\n");
  const auto* unreadable = GENERATE("/etc/kernel/proxmox-boot-uuids", "/etc/kernel");
  REQUIRE(::chmod((path + unreadable).c_str(), 0600) == 0);
  const auto ran = run_as_nobody({"audit", "--root", path});
  INFO(ran.out);
  CHECK(ran.status != 0);
  CHECK(ran.says(unreadable));
}

TEST_CASE("settings with a mistake: ensure names the place, revert doesn't need them") {
  LinuxRoot machine;
  machine.root.file("/etc/peerpath/peerpath.conf", "match = 10de:*:0300\nuki-adon = yes\n");
  const auto ensured = machine.run("ensure");
  CHECK(ensured.status == 1);
  CHECK(ensured.says("/etc/peerpath/peerpath.conf': line 2: "));
  CHECK(machine.run("revert").status == 0);
}

TEST_CASE("settings: a key without its certificate → an error that names the file") {
  LinuxRoot machine;
  machine.root.file("/etc/peerpath/peerpath.conf.d/a.conf", "secure-boot-key = /etc/k\n");
  const auto alone = machine.run("audit");
  CHECK(alone.status == 1);
  CHECK(alone.says("/etc/peerpath/peerpath.conf.d/a.conf': 'secure-boot-key' and"));
  machine.root.file("/etc/peerpath/peerpath.conf.d/b.conf", "secure-boot-certificate = /etc/c\n");
  CHECK_FALSE(machine.run("audit").says("need each other"));
}

TEST_CASE("audit: one line for a directory that only root may read, and what to do") {
  if (!is_superuser()) {
    WARN("skipped: only root can become somebody else");
    return;
  }
  LinuxRoot machine;
  const auto path = machine.root.path();
  machine.root.directory("/boot/loader/entries").directory("/boot/EFI/Linux");
  REQUIRE(::chmod(path.c_str(), 0755) == 0);
  REQUIRE(::chmod((path + "/boot").c_str(), 0700) == 0);
  const auto ran = run_as_nobody({"audit", "--root", path});
  INFO(ran.out);
  CHECK(ran.status != 0);
  const auto first = ran.out.find("what's in it isn't known");
  REQUIRE(first != std::string::npos);
  CHECK(first == ran.out.rfind("what's in it isn't known"));
  CHECK(ran.says("try again as root"));
}
