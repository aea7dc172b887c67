// SPDX-License-Identifier: GPL-2.0-or-later
// Who decides about the IOMMU: this kernel, or a host or hypervisor below it.
#include "base/text.hpp"
#include "check/checks.hpp"
#include "check/devices.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "platform.virtual-machine",
    .title = "Bare metal, virtual machine or Xen",
    .message_id = "e4494ba599704bae87a02d60362d9887",
    .meaning =
        "Finds out whether the kernel runs on bare metal, from the processor's flags, the "
        "firmware's names and Xen's files. On bare metal the other findings are the whole truth. "
        "In a virtual machine it doesn't apply: the host's IOMMU stands behind whatever this "
        "kernel sees, and a self-test alone can tell. In Xen's dom0 the result is unknown: the "
        "IOMMU is Xen's, and the types of this kernel's groups say nothing about it.",
    .causes = "Unknown because this is Xen's dom0, or because the files that tell can't be read.",
    .remedy =
        "In a virtual machine judge by a self-test, and see to passthrough and ACS on the host. "
        "Under Xen boot the kernel without Xen where the GPUs are to reach each other.",
    .since = "0.1.0",
};

bool has_nvidia(const Facts& facts) {
  return facts.devices &&
         std::any_of(facts.devices->begin(), facts.devices->end(),
                     [](const probe::PciDevice& device) { return device.vendor == 0x10de; });
}

Finding untold(const std::string& source, const Error& error) {
  return {.id = std::string(record.id),
          .status = Status::unknown,
          .evidence = {{source, error.text(), "bare metal"}},
          .cause = "whether this is a virtual machine can't be told: " + error.text(),
          .remedy = "mend what can't be read, then run 'peerpath verify' again"};
}

Finding dom0() {
  return {
      .id = std::string(record.id),
      .status = Status::unknown,
      .evidence = {{"/sys/hypervisor/type, /proc/xen/capabilities", "Xen's dom0", "bare metal"}},
      .cause =
          "this is Xen's dom0: the IOMMU is Xen's, so what this kernel says of its groups "
          "doesn't count",
      .remedy = "boot the kernel without Xen, or judge by a test that compares the data"};
}

/// A host that lets guests believe in peers ("clique") may mirror their writes: the writer reads
/// its own data back and the owner never gets it, without any fault.
/// Fact: github.com/NVIDIA/nccl/issues/2335 (VFIO, x-nv-gpudirect-clique).
Finding guest(const Facts& facts, const std::string& hypervisor) {
  Finding finding{
      .id = std::string(record.id),
      .status = Status::not_applicable,
      .evidence = {{"/proc/cpuinfo, /sys/class/dmi/id, /sys/hypervisor", hypervisor, "bare metal"}},
      .cause = fmt::format("this is a virtual machine ({}): its host decides what the "
                           "real IOMMU does",
                           hypervisor)};
  if (has_nvidia(facts)) {
    finding.cause +=
        "; peer access that the host grants by a clique may lose writes without any error, which "
        "only a self-test that compares the data can tell";
  }
  return finding;
}

std::vector<Finding> run(const Facts& facts) {
  if (overall(facts) == Overall::none) return {no_devices(std::string(record.id), facts)};
  const auto& machine = facts.machine;
  if (!machine.xen_dom0) return {untold("/sys/hypervisor/type", machine.xen_dom0.error())};
  if (*machine.xen_dom0) return {dom0()};
  if (!machine.hypervisor) return {untold("/proc/cpuinfo", machine.hypervisor.error())};
  const auto name = printable(*machine.hypervisor);
  if (name != "none") return {guest(facts, name)};
  return {{.id = std::string(record.id),
           .status = Status::ok,
           .evidence = {{"/proc/cpuinfo, /sys/class/dmi/id, /sys/hypervisor",
                         "no sign of a hypervisor", "bare metal"}}}};
}

}  // namespace

const Check platform_virtual_machine{record, run};

}  // namespace peerpath::check
