// SPDX-License-Identifier: GPL-2.0-or-later
// Passthrough was asked for: is it in force, and if not, what stands against it?
#include "base/text.hpp"
#include "check/checks.hpp"
#include "check/conflict_causes.hpp"
#include "check/devices.hpp"
#include "check/running.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "cmdline.conflict",
    .title = "Requests for passthrough, and what came of them",
    .message_id = "2b2397086ba549d9ada36603dcd00812",
    .meaning =
        "Compares the words of the kernel command line that ask for passthrough, or for no IOMMU, "
        "with what became of the devices. It fails when a device is translated all the same, also "
        "where only the boot configuration asks and this boot began without it. It warns when a "
        "request is in vain though no device is translated. It doesn't apply where nothing asks, "
        "or where there is no device to be checked.",
    .causes =
        "A later word contradicts it; the word isn't one that this kernel knows (intel_iommu=pt, "
        "iommu=PT, iommu=pt on arm64); it stands after '--', inside quotes or past the longest "
        "command line; it comes from the kernel's bootconfig, which is read too late; the machine "
        "hasn't been rebooted since, or kexec started this kernel with a command line of its own. "
        "Or the kernel decides otherwise for a device: a port for external devices, an Intel IOMMU "
        "that can't pass through (Linux 6.12 and later), a domain that it could not allocate, "
        "SEV-SNP, a type written through sysfs. The finding names those that there is evidence "
        "for, or else all that nothing rules out.",
    .remedy =
        "Take the contrary word away or spell the request as this kernel does, and reboot. "
        "Where the request is in force and a device is translated, follow the finding's remedy, or "
        "read the kernel log for that device and for 'iommu:', 'DMAR:' or 'AMD-Vi:' lines.",
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

std::string remedy_of(const Running& running) {
  const auto& judgement = running.judgement;
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

void say_why(Finding& finding, Why why) {
  finding.cause = std::move(why.cause);
  finding.remedy = std::move(why.remedy);
  for (auto& evidence : why.evidence)
    finding.evidence.push_back(std::move(evidence));
}

/// The words that ask are in vain. A boot configuration that has it right by now only lacks the
/// reboot.
void say_why_in_vain(const Facts& facts, const Running& running,
                     const std::vector<cmdline::Ignored>& vain, Finding& finding) {
  finding.cause = why_in_vain(vain);
  finding.remedy = remedy_of(running);
  auto not_booted = why_not_booted(facts, running.judgement);
  if (!not_booted || finding.status != Status::fail) return;
  not_booted->cause = fmt::format("{}; {}", finding.cause, not_booted->cause);
  say_why(finding, std::move(*not_booted));
}

/// Something asks for passthrough or off, in force or in vain.
void compare(const Facts& facts, const Running& running, const std::vector<cmdline::Ignored>& vain,
             Finding& finding) {
  const auto& judgement = running.judgement;
  const bool in_force = cmdline::is_untranslated(judgement.mode);
  const auto devices = overall(facts);
  if (devices == Overall::untranslated) {
    finding.status = untranslated(in_force, vain);
    if (auto idle = why_idle(facts)) finding.evidence.push_back(std::move(*idle));
  }
  if (devices == Overall::translated) finding.status = Status::fail;
  if (finding.status == Status::ok) return;

  if (!in_force) {
    say_why_in_vain(facts, running, vain, finding);
  } else if (devices == Overall::translated) {
    say_why(finding, why_overruled(facts, judgement));
  } else {
    finding.cause = "whether it's in force can't be told; see iommu.group-type";
    finding.remedy = "do what iommu.group-type's remedy says";
  }
}

/// No word of this boot asks for it. One of the boot configuration's may.
void without_request(const Facts& facts, const Running& running, Finding& finding) {
  auto why = why_not_booted(facts, running.judgement);
  if (why && overall(facts) == Overall::translated) {
    finding.status = Status::fail;
    say_why(finding, std::move(*why));
    return;
  }
  finding.status = Status::not_applicable;
  finding.cause = "nothing on the kernel command line asks for passthrough";
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
    without_request(facts, *running, finding);
    return {finding};
  }
  compare(facts, *running, vain, finding);
  return {finding};
}

}  // namespace

const Check cmdline_conflict{record, run};

}  // namespace peerpath::check
