// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/sample.hpp"

namespace peerpath::check {

using namespace test;

namespace {

Facts bare_metal() {
  return host("iommu=pt", {gpu("identity")});
}

}  // namespace

TEST_CASE("platform.virtual-machine: bare metal → ok") {
  const auto finding = run_one(platform_virtual_machine, bare_metal());
  CHECK(finding.status == Status::ok);
  CHECK(has_evidence(finding, "no sign of a hypervisor"));
}

TEST_CASE("platform.virtual-machine: a virtual machine → not applicable, naming the hypervisor") {
  auto facts = bare_metal();
  facts.machine.hypervisor = "kvm";
  const auto finding = run_one(platform_virtual_machine, facts);
  CHECK(finding.status == Status::not_applicable);
  CHECK(has_evidence(finding, "kvm"));
  CHECK(contains(finding.cause, "clique"));
}

TEST_CASE("platform.virtual-machine: no NVIDIA GPU in it → not applicable, no word of cliques") {
  auto device = gpu("identity");
  device.vendor = 0x1234;
  auto facts = host("iommu=pt", {device});
  facts.machine.hypervisor = "qemu";
  const auto finding = run_one(platform_virtual_machine, facts);
  CHECK(finding.status == Status::not_applicable);
  CHECK_FALSE(contains(finding.cause, "clique"));
}

TEST_CASE("platform.virtual-machine: Xen's dom0 → unknown, whatever the groups say") {
  auto facts = bare_metal();
  facts.machine.hypervisor = "xen";
  facts.machine.xen_dom0 = true;
  const auto finding = run_one(platform_virtual_machine, facts);
  CHECK(finding.status == Status::unknown);
  CHECK(contains(finding.cause, "the IOMMU is Xen's"));
}

TEST_CASE("platform.virtual-machine: can't be told → unknown naming the file") {
  auto facts = bare_metal();
  facts.machine.hypervisor = fail(Errc::denied, "'/proc/cpuinfo': permission denied");
  auto finding = run_one(platform_virtual_machine, facts);
  CHECK(finding.status == Status::unknown);
  CHECK(contains(finding.cause, "'/proc/cpuinfo'"));
  facts.machine.xen_dom0 = fail(Errc::denied, "'/proc/xen/capabilities': permission denied");
  finding = run_one(platform_virtual_machine, facts);
  CHECK(finding.status == Status::unknown);
  CHECK(contains(finding.cause, "'/proc/xen/capabilities'"));
}

TEST_CASE("platform.virtual-machine: no device matches → not applicable") {
  CHECK(run_one(platform_virtual_machine, host("", {})).status == Status::not_applicable);
}

}  // namespace peerpath::check
