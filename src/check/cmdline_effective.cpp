// SPDX-License-Identifier: GPL-2.0-or-later
// What the running kernel's command line asks for, as the kernel's own parsers read it.
#include "check/checks.hpp"
#include "check/conflict_causes.hpp"
#include "check/devices.hpp"
#include "check/running.hpp"

#include <fmt/format.h>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "cmdline.effective",
    .title = "What the kernel command line asks for",
    .message_id = "46884cd59d6f40388606651dc4b02182",
    .meaning =
        "Reads /proc/cmdline as the kernel does: the last of the 'iommu=' and 'iommu.passthrough=' "
        "words decides, on x86 the vendors' 'off' words turn the IOMMU off, and words after '--' "
        "or in the kernel's bootconfig don't count. Where no word decides, the kernel's build "
        "configuration does. It's good when passthrough is asked for, when translation is off, and "
        "when the default already is one of these. It warns when every device reaches the bus "
        "untranslated, but only by chance: the platform or the device is the reason, not the "
        "command line. It doesn't apply without an IOMMU, or without a device to be checked.",
    .causes =
        "No word asks for passthrough and the kernel's default is translation, or a word "
        "such as 'iommu=nopt' or 'iommu.passthrough=0' asks for translation. Unknown: the "
        "command line, or the build configuration where that decides, can't be read.",
    .remedy =
        "Run 'peerpath ensure' and reboot. A word that asks for translation has to be taken "
        "away first.",
    .since = "0.1.0",
};

struct Outcome {
  Status status;
  std::string cause = {};
};

bool has_units(const Facts& facts) {
  return !facts.iommu.units || !facts.iommu.units->empty();
}

/// No word decides, and no device is translated.
Outcome untranslated_by_default(const Facts& facts) {
  if (!has_units(facts) && facts.iommu.firmware_tables.empty()) {
    return {Status::not_applicable, "there is no IOMMU, so the command line has nothing to decide"};
  }
  if (default_is_passthrough(facts) || is_intel_off_by_default(facts)) return {Status::ok};
  return {Status::warn,
          "no device is translated now, but nothing on the command line guarantees it"};
}

/// No word decides, and a device is translated or can't be told.
Outcome translated_by_default(const Facts& facts) {
  if (overall(facts) == Overall::translated) {
    return {Status::fail,
            "no word in force on the command line asks for passthrough, and a device is "
            "translated"};
  }
  if (!facts.kernel.config) {
    return {Status::unknown,
            "no word on the command line decides, and the kernel's default can't "
            "be told: " +
                facts.kernel.config.error().text()};
  }
  if (default_is_passthrough(facts)) return {Status::ok};
  return {Status::fail,
          "no word in force on the command line asks for passthrough, and the kernel's default is "
          "translation"};
}

Outcome decide(const Facts& facts, const cmdline::Judgement& judgement) {
  if (cmdline::is_untranslated(judgement.mode)) return {Status::ok};
  const bool untranslated = overall(facts) == Overall::untranslated;
  if (!judgement.decided_by) {
    return untranslated ? untranslated_by_default(facts) : translated_by_default(facts);
  }
  const auto asks = fmt::format("'{}' asks for translation", judgement.decided_by->text);
  if (untranslated) return {Status::warn, asks + ", though no device is translated now"};
  return {Status::fail, asks};
}

std::string remedy_of(const Running& running) {
  const auto ask = how_to_ask(running.arch);
  const auto& word = running.judgement.decided_by;
  return word ? fmt::format("take '{}' off the kernel command line, {}", word->text, ask) : ask;
}

bool needs_remedy(Status status) {
  return status != Status::ok && status != Status::not_applicable;
}

std::vector<Finding> run(const Facts& facts) {
  if (overall(facts) == Overall::none) return {no_devices(std::string(record.id), facts)};
  const auto running = judge_running(facts);
  if (!running) return {unjudged(std::string(record.id), running.error())};
  Finding finding{.id = std::string(record.id)};
  auto outcome = decide(facts, running->judgement);
  finding.status = outcome.status;
  finding.cause = std::move(outcome.cause);
  finding.evidence = {{"/proc/cmdline", describe(running->judgement), "passthrough or off"}};
  if (!running->judgement.decided_by) {
    finding.evidence.push_back(default_evidence(facts));
    if (is_intel_off_by_default(facts)) finding.evidence.push_back(intel_default_evidence(facts));
    finding.evidence.push_back(unit_evidence(facts));
    finding.evidence.push_back(table_evidence(facts));
  }
  for (const auto& ignored : running->judgement.ignored)
    finding.evidence.push_back({"/proc/cmdline", describe(ignored), ""});
  if (needs_remedy(finding.status)) finding.remedy = remedy_of(*running);
  return {finding};
}

}  // namespace

const Check cmdline_effective{record, run};

}  // namespace peerpath::check
