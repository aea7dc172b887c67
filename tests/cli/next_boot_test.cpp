// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/next_boot.hpp"

#include "boot/grub_root.hpp"
#include "cli/application.hpp"
#include "probe/module_trees.hpp"
#include "support/json_schema.hpp"
#include "support/snapshot.hpp"

#include <sstream>

using namespace peerpath;
using peerpath::test::add_modules;
using peerpath::test::FakeSystem;
using peerpath::test::GrubRoot;
using peerpath::test::snapshot;
using peerpath::test::TempRoot;

namespace {

using Notes = std::vector<std::string>;

/// A device that no machine has, so that fstab's is never found where the tests run.
constexpr const char* separate_boot =
    "LABEL=root / ext4\nUUID=0badcafe-dead-4bad-8bad-0123456789ab /boot ext4 noauto\n";

struct Ran {
  int status;
  std::string out;
  [[nodiscard]] bool says(std::string_view text) const {
    return out.find(text) != std::string::npos;
  }
};

Ran run(std::vector<std::string> arguments, const TempRoot& root) {
  arguments.insert(arguments.end(), {"--root", root.path()});
  std::ostringstream out;
  std::ostringstream err;
  const int status = cli::run_application(arguments, out, err, false);
  return {status, out.str() + err.str()};
}

boot::JudgedEntry entry(const std::string& version, const std::vector<std::string>& lines) {
  boot::JudgedEntry judged;
  judged.entry.version = version;
  judged.entry.kernel = "/boot/vmlinuz-" + version;
  judged.entry.command_lines = lines;
  judged.entry.kernel_present = true;
  return judged;
}

boot::Outcome outcome_of(std::vector<boot::JudgedEntry> entries) {
  boot::Outcome outcome;
  outcome.entries = std::move(entries);
  return outcome;
}

}  // namespace

TEST_CASE("a /boot of its own that isn't mounted and holds no kernel: nothing is changed") {
  GrubRoot grub;
  for (const auto& kernel : grub.kernels)
    grub.root.remove("/boot/vmlinuz-" + kernel);
  grub.root.file("/etc/fstab", separate_boot);
  const auto before = snapshot(grub.root.path());
  for (const std::string command : {"ensure", "revert", "audit"}) {
    INFO(command);
    const bool audit = command == "audit";
    const auto ran = run({command}, grub.root);
    CHECK(ran.status == (audit ? 4 : 6));
    CHECK(ran.says(grub.root.path() + "/etc/fstab:2: '/boot' is a file system of its own"));
    CHECK(ran.says("mount it first"));
    CHECK(ran.says(command + (audit ? ": unknown" : ": unsupported")));

    const auto json = nlohmann::json::parse(run({command, "--json"}, grub.root).out);
    CHECK(JsonSchema::shipped("boot").flaws(json).empty());
    CHECK(json.at("command") == command);
    CHECK(json.at("exit_status") == (audit ? 4 : 6));
    CHECK(json.at("changed") == false);
    CHECK(json.at("entries").empty());
    CHECK(json.at("messages").size() == 1);
  }
  CHECK(snapshot(grub.root.path()) == before);
}

TEST_CASE(
    "a /boot of its own whose disk isn't here: the image's directory is judged, with a note") {
  GrubRoot grub;
  grub.root.file("/etc/fstab", separate_boot);
  grub.settings("iommu=pt", "quiet");
  const auto ran = run({"audit"}, grub.root);
  CHECK(ran.status == 0);
  CHECK(ran.says("the directory is taken for what will be there"));
}

TEST_CASE("look_before: on the booted system a kernel in the directory doesn't help") {
  GrubRoot grub;
  grub.root.file("/etc/fstab", separate_boot);
  CHECK_FALSE(cli::look_before(grub.system, "ensure", {}).value().refusal);
  grub.system.booted = true;
  boot::Options options;
  options.dry_run = true;
  const auto refusal = cli::look_before(grub.system, "ensure", options).value().refusal;
  REQUIRE(refusal);
  CHECK(refusal->command == "ensure");
  CHECK(refusal->root == grub.root.path());
  CHECK(refusal->status == ExitStatus::unsupported);
  CHECK(refusal->dry_run);
  CHECK_FALSE(refusal->changed);
}

TEST_CASE("look_before: bad lines of fstab are said, whatever follows") {
  GrubRoot grub;
  grub.root.file("/etc/fstab", "LABEL=boot\n");
  grub.settings("iommu=pt", "quiet");
  CHECK(run({"audit"}, grub.root).says("/etc/fstab:1: has fewer than three fields, not heeded"));
  CHECK(run({"audit"}, grub.root).status == 0);
  grub.root.remove("/etc/fstab").directory("/etc/fstab");
  CHECK(run({"audit"}, grub.root).status == 1);
}

TEST_CASE("find_unmounted: another root → nothing; the booted one without /sys → said") {
  TempRoot root;
  FakeSystem system(root.path());
  CHECK(cli::find_unmounted(system).messages.empty());
  system.booted = true;
  const auto unknown = cli::find_unmounted(system);
  CHECK(unknown.partitions.empty());
  REQUIRE(unknown.messages.size() == 1);
  CHECK(unknown.messages[0].find("isn't known") != std::string::npos);
  root.directory("/sys/block").file("/proc/self/mountinfo", "");
  CHECK(cli::find_unmounted(system).messages.empty());
}

TEST_CASE("no boot loader found, and fstab has a boot partition that isn't mounted → said") {
  TempRoot root;
  root.file("/etc/os-release", "ID=x\n")
      .file("/bin/sh", test::elf_header(62), 0755)
      .directory("/efi");
  root.file("/etc/fstab", "LABEL=root / ext4\nLABEL=ESP /efi vfat\n");
  const auto ran = run({"audit"}, root);
  INFO(ran.out);
  CHECK(ran.status == 6);
  CHECK(ran.says(root.path() + "/etc/fstab:2: '/efi' isn't mounted: mount it first"));
}

TEST_CASE("driver_notes: for the kernels of this root that have entries, each once") {
  GrubRoot grub;
  add_modules(grub.root, "6.1.0-35-amd64");
  add_modules(grub.root, "6.1.0-31-amd64");
  add_modules(grub.root, "6.17.0-fedora");
  auto gone = entry("6.17.0-fedora", {"quiet"});
  gone.entry.kernel_present = false;
  const auto kept = "modprobe.blacklist=nouveau";
  CHECK(cli::driver_notes(grub.system,
                          outcome_of({entry("6.1.0-35-amd64", {kept}),
                                      entry("6.1.0-31-amd64", {"\"modprobe.blacklist=nouveau\""}),
                                      entry("6.1.0-35-amd64", {kept}), gone, entry("", {""})})) ==
        Notes{"6.1.0-31-amd64: no 'nvidia' module is built for it"});
  // What comes after `--` is for init.
  CHECK(cli::driver_notes(
            grub.system,
            outcome_of({entry("6.1.0-35-amd64", {"quiet -- modprobe.blacklist=nouveau"})})) ==
        Notes{"6.1.0-35-amd64: 'nouveau' would claim the GPUs: nothing blacklists it"});
  CHECK(cli::driver_notes(grub.system, outcome_of({})).empty());
}

TEST_CASE("audit: says what the modules would do, and its status stays what the entries make it") {
  GrubRoot grub;
  add_modules(grub.root, "6.1.0-35-amd64");
  add_modules(grub.root, "6.1.0-31-amd64");
  for (const auto* word : {"iommu=pt", "iommu=nopt"}) {
    grub.settings(word, "quiet");
    const auto ran = run({"audit"}, grub.root);
    CHECK(ran.status == (std::string(word) == "iommu=pt" ? 0 : 3));
    CHECK(ran.says("6.1.0-35-amd64: 'nouveau' would claim the GPUs: nothing blacklists it\n"));
    CHECK(ran.says("6.1.0-31-amd64: no 'nvidia' module is built for it\n"));
  }
  grub.settings("iommu=pt", "quiet");
  const auto json = nlohmann::json::parse(run({"audit", "--json"}, grub.root).out);
  CHECK(JsonSchema::shipped("boot").flaws(json).empty());
  CHECK(json.at("messages").size() == 3);
  grub.root.file("/etc/modprobe.d/n.conf", "blacklist nouveau\n");
  const auto one = run({"audit", "--kernel", "6.1.0-35-amd64"}, grub.root);
  CHECK(one.status == 0);
  CHECK_FALSE(one.says("nouveau"));
  CHECK_FALSE(one.says("'nvidia'"));
}
