// SPDX-License-Identifier: GPL-2.0-or-later
// Passthrough was asked for: is it in force, and if not, what stands against it?
#include "base/text.hpp"
#include "check/checks.hpp"
#include "check/devices.hpp"
#include "check/running.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "cmdline.conflict",
    .title = "Passthrough asked for but not in force",
    .message_id = "2b2397086ba549d9ada36603dcd00812",
    .meaning =
        "Compares the words of the kernel command line that ask for passthrough, or for no IOMMU, "
        "with what became of the devices. It fails when a device is translated all the same, and "
        "warns when a request is in vain though no device is translated. It doesn't apply where "
        "nothing asks, or where there is no device to be checked.",
    .causes =
        "A later word contradicts it; the word isn't one that this kernel knows (intel_iommu=pt, "
        "iommu=PT, iommu=pt on arm64); it stands after '--', inside quotes or past the longest "
        "command line; it comes from the kernel's bootconfig, which is read too late. Or the "
        "kernel "
        "decides otherwise for a device: a port for external devices, an Intel IOMMU that can't "
        "pass through (Linux 6.12 and later), memory encryption, a type written through sysfs.",
    .remedy =
        "Take the contrary word away or spell the request as this kernel does, and reboot. "
        "Where the request is in force and a device is translated, read the kernel log for "
        "that device and for 'iommu:', 'DMAR:' or 'AMD-Vi:' lines.",
    .since = "0.1.0",
};

std::string why_in_vain(const std::vector<cmdline::Ignored>& requests) {
  std::vector<std::string> reasons;
  for (const auto& request : requests)
    reasons.push_back(describe(request));
  return join(reasons, "; ");
}

bool asks_for_passthrough(const cmdline::Ignored& request) {
  return request.word.asks_for == cmdline::Mode::passthrough;
}

/// The request is in force, and the kernel decided otherwise for a device. The sources that could
/// tell which of these it was aren't among the facts, so all of them are named.
/// Facts: drivers/iommu/iommu.c iommu_get_default_domain_type and iommu_alloc_default_domain,
/// drivers/iommu/intel/iommu.c device_def_domain_type (ECAP.PT since 6.12) and platform opt-in.
std::string why_overruled(const Facts& facts, const cmdline::Judgement& judgement) {
  const auto& word = judgement.decided_by->text;
  if (judgement.mode == cmdline::Mode::off) {
    return fmt::format(
        "'{}' is in force, but an IOMMU is in use: firmware or tboot may have "
        "required it",
        word);
  }
  std::vector<std::string> candidates{
      "the device is untrusted, behind a port for external devices",
      "the kernel could not set up an identity domain",
      "the group's type was changed through sysfs",
      "a driver or a firmware table asks for translation of this device",
  };
  if (vendor_of(facts.iommu) == cmdline::Vendor::intel) {
    candidates.insert(candidates.begin() + 1,
                      "the Intel IOMMU can't pass through (bit 6 of "
                      "/sys/class/iommu/dmar*/intel-iommu/ecap), which Linux 6.12 and later "
                      "require");
  }
  return fmt::format(
      "'{}' is in force, but the kernel decided otherwise; why can't be told from "
      "here, it's one of: {}",
      word, join(candidates, "; "));
}

std::string remedy_of(const Running& running) {
  const auto& judgement = running.judgement;
  if (cmdline::is_untranslated(judgement.mode)) {
    return "look for the device's address and for 'iommu:', 'DMAR:' or 'AMD-Vi:' in the kernel log "
           "('journalctl -k -b')";
  }
  const auto ask = how_to_ask(running.arch);
  if (!judgement.decided_by) return "take the word that is in vain away, " + ask;
  return fmt::format("take '{}' off the kernel command line, {}", judgement.decided_by->text, ask);
}

/// Nothing is translated. A vendor's `off` for somebody else's IOMMU is no matter then, but vain
/// words for passthrough are: their author believes that they're what does it.
Status untranslated(bool in_force, const std::vector<cmdline::Ignored>& vain) {
  const bool misled = std::any_of(vain.begin(), vain.end(), asks_for_passthrough);
  return misled && !in_force ? Status::warn : Status::ok;
}

/// Something asks for passthrough or off, in force or in vain.
void compare(const Facts& facts, const Running& running, const std::vector<cmdline::Ignored>& vain,
             Finding& finding) {
  const auto& judgement = running.judgement;
  const bool in_force = cmdline::is_untranslated(judgement.mode);
  const auto devices = overall(facts);
  if (devices == Overall::untranslated) finding.status = untranslated(in_force, vain);
  if (devices == Overall::translated) finding.status = Status::fail;
  if (finding.status == Status::ok) return;

  finding.remedy = remedy_of(running);
  if (!in_force) {
    finding.cause = why_in_vain(vain);
  } else if (devices == Overall::translated) {
    finding.cause = why_overruled(facts, judgement);
  } else {
    finding.cause = "whether it's in force can't be told; see iommu.group-type";
    finding.remedy = "see 'peerpath explain iommu.group-type'";
  }
}

std::vector<Finding> run(const Facts& facts) {
  if (overall(facts) == Overall::none) return {no_devices(std::string(record.id), facts)};
  const auto running = judge_running(facts);
  if (!running) return {unjudged(std::string(record.id), running.error())};
  Finding finding{.id = std::string(record.id)};
  const auto& judgement = running->judgement;
  finding.evidence = {
      {"/proc/cmdline", describe(judgement), "passthrough or off, where it's asked for"}};
  for (const auto& ignored : judgement.ignored)
    finding.evidence.push_back({"/proc/cmdline", describe(ignored), ""});
  for (auto& device : translated_devices(facts))
    finding.evidence.push_back(std::move(device));
  const auto vain = vain_requests(judgement);
  if (!cmdline::is_untranslated(judgement.mode) && vain.empty()) {
    finding.status = Status::not_applicable;
    finding.cause = "nothing on the kernel command line asks for passthrough";
    return {finding};
  }
  compare(facts, *running, vain, finding);
  return {finding};
}

}  // namespace

const Check cmdline_conflict{record, run};

}  // namespace peerpath::check
