// SPDX-License-Identifier: GPL-2.0-or-later
// What went wrong elsewhere, each report as an input with the outcome that's right. Those of a
// single boot loader are with its other tests.
#include "boot/bls_root.hpp"
#include "boot/grub_root.hpp"
#include "boot/operations.hpp"
#include "support/catch.hpp"
#include "support/snapshot.hpp"

using namespace peerpath;
using namespace peerpath::boot;
using peerpath::test::BlsRoot;
using peerpath::test::differences;
using peerpath::test::failed;
using peerpath::test::GrubRoot;
using peerpath::test::snapshot;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Every file below the root as text, to look for what must be nowhere.
std::string everything(const std::string& root) {
  std::string all;
  for (const auto& [path, description] : snapshot(root))
    all += path + "\n" + description + "\n";
  return all;
}

}  // namespace

TEST_CASE("the build host's command line goes nowhere (lxc/lxc-ci#979, systemd/systemd#28750)") {
  BlsRoot machine;
  machine.root.remove("/etc/kernel");
  REQUIRE(ensure(machine.system, {}));
  const auto* host = "root=/dev/loop0p2 from-the-host";
  CHECK_FALSE(contains(everything(machine.root.path()), host));
  machine.root.file("/proc/cmdline", host);
  machine.kernel("6.13.0-1", "root=UUID=11-22");
  REQUIRE(ensure(machine.system, {}));
  CHECK_FALSE(machine.system.exists("/etc/kernel/cmdline"));
  CHECK_FALSE(contains(machine.text("6.13.0-1"), "loop0p2"));
}

TEST_CASE(
    "a provider's later settings file sets _DEFAULT anew: the word is in all entries "
    "(k8snetworkplumbingwg/sriov-network-operator#1016, hetzneronline/installimage#39)") {
  GrubRoot machine;
  machine.settings("", "quiet iommu=pt");
  const auto* file = GENERATE("50-cloudimg-settings.cfg", "hetzner.cfg", "99-x.cfg");
  machine.root.file(std::string("/etc/default/grub.d/") + file,
                    "GRUB_CMDLINE_LINUX_DEFAULT=\"console=tty1 console=ttyS0\"\n");
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  REQUIRE(outcome.entries.size() == 5);
  for (const auto& entry : outcome.entries)
    CHECK(entry.mode == cmdline::Mode::passthrough);
}

TEST_CASE(
    "mkconfig alone changes no boot loader entry: none is run, the entries are edited "
    "(voxpupuli/puppet-augeasproviders_grub#95, openstack-k8s-operators/edpm-ansible#650)") {
  BlsRoot machine;
  machine.root.file("/usr/sbin/grub2-mkconfig", ". ${sysconfdir}/default/grub\n", 0755);
  machine.root.file("/etc/default/grub", "GRUB_CMDLINE_LINUX=\"\"\nGRUB_ENABLE_BLSCFG=true\n");
  // An unexpected command would fail the test.
  CHECK(ensure(machine.system, {}).value().status == ExitStatus::good);
  CHECK(contains(machine.text(), " iommu=pt\n"));
  CHECK(machine.system.ran().empty());
  CHECK_FALSE(contains(machine.system.read("/etc/default/grub").value(), "peerpath"));
}

TEST_CASE("a new kernel before the reboot gets the word, too (rhboot/grubby#55)") {
  BlsRoot machine;
  REQUIRE(ensure(machine.system, {}));
  machine.kernel("6.13.0-1", "root=UUID=11-22 ro quiet");
  CHECK(audit(machine.system, {}).value().status == ExitStatus::check_failed);
  // What the kernel-install plugin runs.
  const auto outcome = ensure(machine.system, {.kernel = "6.13.0-1"}).value();
  CHECK(outcome.status == ExitStatus::good);
  CHECK(outcome.entries.size() == 1);
  CHECK(audit(machine.system, {}).value().status == ExitStatus::good);
}

TEST_CASE(
    "GRUB's environment block keeps its 1024 bytes (osbuild/osbuild#342, rhboot/grub2#50, "
    "redhat-performance/tuned#706)") {
  BlsRoot machine;
  auto block = std::string("# GRUB Environment Block\nkernelopts=root=x ro\n");
  block.resize(1024, '#');
  machine.root.file("/boot/grub2/grubenv", block);
  machine.kernel(BlsRoot::first, "$kernelopts");
  const auto before = snapshot(machine.root.path()).at("boot/grub2/grubenv");
  REQUIRE(ensure(machine.system, {}));
  REQUIRE(revert(machine.system, {}));
  CHECK(snapshot(machine.root.path()).at("boot/grub2/grubenv") == before);
}

TEST_CASE("a variable is never what's added (redhat-performance/tuned#704)") {
  BlsRoot machine;
  machine.root.remove("/boot/grub2").remove("/etc/grub.d");
  const auto before = machine.text();
  REQUIRE(ensure(machine.system, {}));
  CHECK(machine.text().size() == before.size() + std::string_view(" iommu=pt").size());
}

TEST_CASE(
    "names are compared as the kernel does, never as patterns "
    "(voxpupuli/puppet-augeasproviders_grub#141)") {
  BlsRoot machine;
  machine.kernel(BlsRoot::first, "root=x iommuXpassthrough=0 iommu.passthrough2=0 Iommu=nopt");
  CHECK(ensure(machine.system, {}).value().status == ExitStatus::good);
  machine.kernel(BlsRoot::second, "root=x iommu.passthrough=0");
  CHECK(ensure(machine.system, {}).value().status == ExitStatus::conflict);
}

TEST_CASE("state that's lost: nothing is added twice (redhat-performance/tuned#827)") {
  BlsRoot machine;
  machine.root.file("/etc/kernel/cmdline", "root=x\n");
  REQUIRE(ensure(machine.system, {}));
  machine.root.remove("/var/lib/peerpath").remove("/etc/grub.d/99_peerpath");
  REQUIRE(ensure(machine.system, {}));
  const auto text = machine.text();
  CHECK(text.find("iommu=pt") == text.rfind("iommu=pt"));
  CHECK(machine.system.read("/etc/kernel/cmdline").value() == "root=x iommu=pt\n");
}

TEST_CASE("a word that the kernel ignores isn't taken for ours (mondoohq/cnspec#3835)") {
  BlsRoot machine;
  machine.kernel(BlsRoot::first, "root=x amd_iommu=on intel_iommu=on foo=iommu=pt");
  const auto outcome = audit(machine.system, {.kernel = BlsRoot::first}).value();
  CHECK(outcome.status == ExitStatus::check_failed);
}

TEST_CASE(
    "a command line at the kernel's limit → unsupported, nothing is changed "
    "(coreos/fedora-coreos-tracker#1647)") {
  BlsRoot machine;
  machine.kernel(BlsRoot::first, "root=x a=" + std::string(2040, 'a'));
  const auto before = snapshot(machine.root.path());
  const auto outcome = ensure(machine.system, {});
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == Errc::unsupported);
  CHECK(contains(outcome.error().text(), " bytes, and the kernel keeps 2047"));
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

TEST_CASE("no backup lies about where every file is sourced (chef/bento#1187)") {
  GrubRoot machine;
  REQUIRE(ensure(machine.system, {}));
  CHECK(machine.system.list("/etc/default").value() == std::vector<std::string>{"grub", "grub.d"});
  CHECK(machine.system.list("/etc/default/grub.d").value() ==
        std::vector<std::string>{"zz-peerpath.cfg"});
}

TEST_CASE(
    "a chroot without devices: deferred, and the package is installed "
    "(delphix/appliance-build#185)") {
  GrubRoot machine;
  machine.system.on("grub-probe", failed(1, "grub-probe: error: failed to get canonical path\n"));
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::good);
  CHECK(outcome.result == "deferred");
}

TEST_CASE(
    "Xen boots dom0 from GRUB with boot loader entries, too → refused "
    "(os-autoinst/os-autoinst-distri-opensuse#18935)") {
  BlsRoot machine;
  machine.root.file("/boot/grub2/grub.cfg",
                    "blscfg\nmenuentry Xen {\n multiboot2 /xen-4.17.gz\n}\n");
  const auto before = snapshot(machine.root.path());
  const auto outcome = ensure(machine.system, {}).value();
  CHECK(outcome.status == ExitStatus::unsupported);
  CHECK(differences(before, snapshot(machine.root.path())) == "");
}

TEST_CASE(
    "arm64: asked for, a boot loader entry of an older kernel → refused "
    "(NVIDIA/nodewright-packages#122)") {
  BlsRoot machine;
  machine.root.file("/bin/sh", peerpath::test::elf_header('\xb7'));
  machine.kernel("5.15.0-1-arm64", "root=x");
  const auto before = snapshot(machine.root.path());
  CHECK(ensure(machine.system, {}).value().status == ExitStatus::not_applicable);
  CHECK(ensure(machine.system, {.arm64_passthrough = true}).value().status ==
        ExitStatus::unsupported);
  CHECK(differences(before, snapshot(machine.root.path())) == "");
  machine.root.remove("/boot/vmlinuz-5.15.0-1-arm64");
  CHECK(ensure(machine.system, {.arm64_passthrough = true}).value().status == ExitStatus::good);
  CHECK(contains(machine.text(), " iommu.passthrough=1\n"));
}
