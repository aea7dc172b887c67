// SPDX-License-Identifier: GPL-2.0-or-later
// Whether memory encryption stands between the devices and passthrough.
#include "check/checks.hpp"
#include "check/devices.hpp"
#include "check/log_evidence.hpp"
#include "check/running.hpp"

#include <optional>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "iommu.memory-encryption",
    .title = "Memory encryption and passthrough",
    .message_id = "a75d433aea854b2a95c5a60388126c7a",
    .meaning =
        "Where the kernel encrypts memory (AMD SME or SEV, Intel TDX), it doesn't keep a built-in "
        "default of passthrough; only an explicit word on the command line does. It warns when the "
        "kernel log says that the default was reset, and when passthrough is in force on a machine "
        "that encrypts: a device that can't address the encryption bit then bounces through "
        "buffers. It doesn't apply where memory isn't encrypted, where no device is in an IOMMU "
        "group, or without a device to be checked.",
    .causes =
        "'mem_encrypt=on' on the kernel command line, or a kernel built with it as its default, on "
        "a processor whose firmware allows it. Unknown: neither the machine nor the kernel log "
        "tells whether memory is encrypted, or the kernel log can't be read.",
    .remedy =
        "Ask for passthrough explicitly: run 'peerpath ensure' and reboot. Where devices bounce "
        "through buffers, turn the encryption off with 'mem_encrypt=off' on the kernel command "
        "line or in the firmware, or leave them translated.",
    .since = "0.1.0",
};

/// Whether the kernel encrypts memory; nothing where that can't be told.
/// Fact: arch/x86/mm/mem_encrypt.c prints which of them is active whenever one is.
std::optional<bool> encrypts(const Facts& facts) {
  if (facts.log && (facts.log->encryption_active || facts.log->memory_encryption)) return true;
  if (facts.machine.memory_encryption) return *facts.machine.memory_encryption;
  if (log_is_whole(facts)) return false;
  return std::nullopt;
}

Evidence machine_evidence(const Facts& facts) {
  const auto& machine = facts.machine.memory_encryption;
  if (!machine) return {"memory encryption of this machine", machine.error().text(), ""};
  return {"memory encryption of this machine", *machine ? "in use" : "not in use", ""};
}

void unknown(const Facts& facts, std::string cause, Finding& finding) {
  finding.cause = std::move(cause);
  finding.remedy = log_is_whole(facts) ? "mend what can't be read, then run 'peerpath verify' again"
                                       : how_to_get_whole(facts);
}

/// Memory is encrypted, and the log doesn't say that the default was reset.
void judge_encrypted(const Facts& facts, const Running& running, Finding& finding) {
  finding.evidence.push_back({"/proc/cmdline", describe(running.judgement), ""});
  if (cmdline::is_untranslated(running.judgement.mode)) {
    finding.status = Status::warn;
    finding.cause =
        "memory is encrypted and passthrough is in force: a device that can't address the "
        "encryption bit bounces through buffers (SWIOTLB)";
    finding.remedy =
        "put 'mem_encrypt=off' on the kernel command line and reboot, if the devices are slow or "
        "their transfers fail";
  } else if (log_is_whole(facts) || running.judgement.decided_by ||
             (facts.kernel.config && !default_is_passthrough(facts))) {
    finding.status = Status::ok;
  } else {
    unknown(
        facts,
        "whether memory encryption has reset the default can't be told: " + why_not_whole(facts),
        finding);
  }
}

std::vector<Finding> run(const Facts& facts) {
  const auto devices = overall(facts);
  if (devices == Overall::none) return {no_devices(std::string(record.id), facts)};
  const auto running = judge_running(facts);
  Finding finding{.id = std::string(record.id)};
  finding.evidence = {machine_evidence(facts), log_evidence(facts)};
  if (facts.log && facts.log->encryption_active)
    finding.evidence.push_back(line_evidence(facts, *facts.log->encryption_active));

  if (has_no_iommu(facts)) {
    finding.status = Status::not_applicable;
    finding.cause = "no device is in an IOMMU group, so nothing is translated";
    return {finding};
  }
  if (facts.log && facts.log->memory_encryption) {
    finding.evidence.push_back(line_evidence(facts, *facts.log->memory_encryption));
    finding.status = Status::warn;
    finding.cause = "memory encryption has reset this kernel's default, which was passthrough";
    finding.remedy = "ask for passthrough explicitly: " +
                     how_to_ask(running ? running->arch : cmdline::Arch::x86_64);
    return {finding};
  }
  const auto encrypted = encrypts(facts);
  if (!encrypted) {
    unknown(facts,
            "whether memory is encrypted can't be told: " +
                facts.machine.memory_encryption.error().text(),
            finding);
  } else if (!*encrypted) {
    finding.status = Status::not_applicable;
    finding.cause = "memory isn't encrypted";
  } else if (!running) {
    return {unjudged(std::string(record.id), running.error())};
  } else {
    judge_encrypted(facts, *running, finding);
  }
  return {finding};
}

}  // namespace

const Check iommu_memory_encryption{record, run};

}  // namespace peerpath::check
