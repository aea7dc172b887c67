// SPDX-License-Identifier: GPL-2.0-or-later
// The truth about each device: the type of its IOMMU group. Neither the command line nor a log
// line ever makes this check pass; they only say why it failed.
#include "check/checks.hpp"
#include "check/conflict_causes.hpp"
#include "check/devices.hpp"
#include "check/running.hpp"

#include <fmt/format.h>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "iommu.group-type",
    .title = "IOMMU translation of each GPU",
    .message_id = "6fbb684582e34402a23ec4958f5c8115",
    .meaning =
        "Reads /sys/bus/pci/devices/ADDRESS/iommu_group/type, the default domain of the group that "
        "the kernel put the device into. With 'identity' the device's addresses reach the bus as "
        "they are, so that GPUs can read and write each other's memory. A device without a group "
        "isn't translated either: the machine has no IOMMU, or the kernel doesn't use it. While "
        "vfio-pci has the device, the type is that of the default domain, not of the one in use.",
    .causes =
        "'DMA' and 'DMA-FQ': an IOMMU translates the device's addresses, so copies between GPUs "
        "fail, hang or corrupt data. Other types, such as 'blocked': no driver of this host can "
        "use the device. Unknown: the kernel doesn't show the type (RHEL 8.0 to 8.2 and Linux 4.18 "
        "have no such file, Linux 4.19 may say 'unknown'), or it can't be read.",
    .remedy =
        "Run 'peerpath ensure' and reboot. A contrary word on the kernel command line, such "
        "as 'iommu=nopt', has to be taken away first. Where passthrough is asked for and the "
        "device is translated all the same, see cmdline.conflict.",
    .since = "0.1.0",
};

bool is_with_vfio(const probe::PciDevice& device) {
  return device.driver == "vfio-pci";
}

Finding start(const probe::PciDevice& device, Status status) {
  Finding finding{.id = std::string(record.id), .status = status, .device = device.bdf};
  finding.evidence.push_back(group_evidence(device));
  if (is_with_vfio(device)) {
    finding.evidence.push_back({fmt::format("/sys/bus/pci/devices/{}/driver", device.bdf),
                                "vfio-pci: given to a virtual machine, so this host's CUDA doesn't "
                                "use it; the type isn't that of the domain in use",
                                ""});
  }
  return finding;
}

Finding without_iommu(const Facts& facts, const probe::PciDevice& device) {
  auto finding = start(device, Status::ok);
  finding.evidence.front().observed = "no group: NO-IOMMU, no IOMMU translates it";
  finding.evidence.push_back(unit_evidence(facts));
  finding.evidence.push_back(table_evidence(facts));
  return finding;
}

/// Nothing on the command line decides, and yet the device is translated.
std::string why_by_default(const Facts& facts, const cmdline::Judgement& judgement) {
  if (const auto vain = vain_requests(judgement); !vain.empty()) return describe(vain.front());
  std::string why = "nothing on the kernel command line asks for passthrough";
  if (!facts.kernel.config) return why + ", so the kernel's default applies";
  if (default_is_passthrough(facts)) {
    const auto encryption = encryption_evidence(facts);
    return fmt::format("{}; this kernel's default does ({}), but {}", why, describe_default(facts),
                       encryption ? fmt::format("memory encryption takes it away ({}: {})",
                                                encryption->source, encryption->observed)
                                  : "memory encryption, an untrusted port or a driver stands "
                                    "against it");
  }
  return fmt::format("{} and this kernel's default is translation ({})", why,
                     describe_default(facts));
}

std::string why_translated(const Facts& facts, const Result<Running>& running) {
  if (!running) return "why can't be told: " + running.error().text();
  const auto& judgement = running->judgement;
  if (!judgement.decided_by) return why_by_default(facts, judgement);
  const auto& word = judgement.decided_by->text;
  if (cmdline::is_untranslated(judgement.mode)) {
    return fmt::format(
        "'{}' is in force on the kernel command line, but this device is "
        "translated all the same; see cmdline.conflict",
        word);
  }
  return fmt::format("'{}' on the kernel command line asks for translation", word);
}

std::string how_to_pass_through(const Result<Running>& running) {
  if (!running) return how_to_ask(cmdline::Arch::x86_64);
  const auto& judgement = running->judgement;
  auto ask = how_to_ask(running->arch);
  if (!judgement.decided_by) return ask;
  if (cmdline::is_untranslated(judgement.mode)) return "do what cmdline.conflict's remedy says";
  return fmt::format("take '{}' off the kernel command line, {}", judgement.decided_by->text, ask);
}

Finding translated(const Facts& facts, const Result<Running>& running,
                   const probe::PciDevice& device) {
  auto finding = start(device, Status::fail);
  finding.cause = why_translated(facts, running);
  finding.remedy = how_to_pass_through(running);
  return finding;
}

Finding unusable(const probe::PciDevice& device) {
  auto finding = start(device, Status::fail);
  finding.cause =
      fmt::format("no driver of this host can use a group of the type '{}'", *device.group_type);
  finding.remedy =
      "give the device back to its driver, or reboot; then run 'peerpath verify' again";
  return finding;
}

/// The kernel doesn't say: what the command line asks for is a guess at most, and marked as one.
Finding untold(const Facts& facts, const Result<Running>& running, const probe::PciDevice& device) {
  auto finding = start(device, Status::unknown);
  const auto& type = device.group_type;
  finding.cause = type ? fmt::format("the kernel doesn't say what type group {} has", *device.group)
                       : "can't be told: " + type.error().text();
  finding.evidence.push_back(
      {"/proc/cmdline",
       running ? describe(running->judgement) + " (low confidence: only what was asked for)"
               : running.error().text(),
       ""});
  finding.evidence.push_back(unit_evidence(facts));
  const bool old_kernel = device.group && (type || type.error().code == Errc::not_found);
  finding.remedy = old_kernel ? "boot a kernel that shows it: Linux 5.4 or RHEL 8.3, or later"
                              : "mend what can't be read, then run 'peerpath verify' again";
  return finding;
}

Finding judge_device(const Facts& facts, const Result<Running>& running,
                     const probe::PciDevice& device) {
  switch (translation_of(device)) {
    case Translation::no_iommu:
      return without_iommu(facts, device);
    case Translation::identity:
      return start(device, Status::ok);
    case Translation::translated:
      return translated(facts, running, device);
    case Translation::unusable:
      return unusable(device);
    case Translation::unknown:
      break;
  }
  return untold(facts, running, device);
}

std::vector<Finding> run(const Facts& facts) {
  if (!facts.devices) {
    const auto error = facts.devices.error().text();
    return {{.id = std::string(record.id),
             .status = Status::unknown,
             .evidence = {{"/sys/bus/pci/devices", error, "devices of " + facts.match_list}},
             .cause = "the PCI devices can't be listed: " + error,
             .remedy = "mend what can't be read, then run 'peerpath verify' again"}};
  }
  if (facts.devices->empty()) return {no_devices(std::string(record.id), facts)};
  const auto running = judge_running(facts);
  std::vector<Finding> findings;
  for (const auto& device : *facts.devices)
    findings.push_back(judge_device(facts, running, device));
  return findings;
}

}  // namespace

const Check iommu_group_type{record, run};

}  // namespace peerpath::check
