// SPDX-License-Identifier: GPL-2.0-or-later
// Whether what the kernel says of its default at boot is what became of the devices.
#include "base/text.hpp"
#include "check/checks.hpp"
#include "check/devices.hpp"
#include "check/log_evidence.hpp"
#include "check/running.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "iommu.default-domain",
    .title = "Default domain by the kernel log",
    .message_id = "8f14ce09919e4800b3f81e86f18e833b",
    .meaning =
        "Compares the kernel log's line 'iommu: Default domain type' with the types of the "
        "devices' "
        "IOMMU groups. The line only corroborates iommu.group-type: the kernel prints it before it "
        "looks at any device, and even where there's no IOMMU. It warns when they disagree. It "
        "doesn't apply where no device is in an IOMMU group, where the kernel prints no such line "
        "(Linux 4.19 and earlier), or without a device to be checked.",
    .causes =
        "The kernel decided otherwise for a device: the platform opts in to DMA protection, AMD's "
        "driver passes devices with PASIDs through, a port for external devices is untrusted, an "
        "identity domain couldn't be set up, a type was written through sysfs. Unknown: the kernel "
        "log can't be read or has lost its beginning, or a group's type can't be told.",
    .remedy =
        "Go by iommu.group-type: the group's type is the truth. Where the log is denied, run "
        "'peerpath verify' as root; where it's lost, enlarge it with 'log_buf_len=16M' on the "
        "kernel command line, or keep a journal.",
    .since = "0.1.0",
};

constexpr std::string_view go_by_type = "go by the group's type; see iommu.group-type";

bool is_any(const Facts& facts, Translation translation) {
  return std::any_of(facts.devices->begin(), facts.devices->end(),
                     [&](const auto& device) { return translation_of(device) == translation; });
}

/// Devices whose type isn't the one that the line tells.
std::vector<std::string> that_differ(const Facts& facts, Translation told) {
  std::vector<std::string> names;
  for (const auto& device : *facts.devices) {
    const auto translation = translation_of(device);
    if (translation == told || translation == Translation::no_iommu ||
        translation == Translation::unknown) {
      continue;
    }
    names.push_back(fmt::format("{} is {}", device.bdf, printable(*device.group_type)));
  }
  return names;
}

/// What may have decided, as far as it's known.
/// Facts: drivers/iommu/intel/iommu.c platform_optin_force_iommu, which comes after the line;
/// drivers/iommu/amd/iommu.c amd_iommu_def_domain_type.
std::string what_decided(const Facts& facts, Translation told) {
  const auto& log = *facts.log;
  if (!log.domain_lines.empty()) return "the kernel says why: " + describe(log.domain_lines[0]);
  if (told == Translation::identity) {
    return "the kernel decided otherwise for a device, an untrusted one for example";
  }
  if (log.platform_opt_in) {
    return "the platform asked for its IOMMU after that line, and the kernel turned it on in "
           "passthrough";
  }
  if (vendor_of(facts.iommu) == cmdline::Vendor::amd) {
    return "AMD's driver passes devices with PASIDs through without being asked to";
  }
  return "the kernel decided otherwise for a device, or its group's type was changed through sysfs";
}

/// The line's word; unknown where it's none of these two.
Translation told_by(const probe::LogLine& line) {
  const std::string_view text = line.text;
  if (text.find("type: Passthrough") != std::string_view::npos) return Translation::identity;
  if (text.find("type: Translated") != std::string_view::npos) return Translation::translated;
  return Translation::unknown;
}

void compare(const Facts& facts, const probe::LogLine& line, Finding& finding) {
  const auto told = told_by(line);
  finding.remedy = go_by_type;
  if (told == Translation::unknown) {
    finding.cause = "the line names no type that's known here";
    return;
  }
  if (const auto differing = that_differ(facts, told); !differing.empty()) {
    finding.status = Status::warn;
    finding.cause = fmt::format("the line doesn't hold for these devices ({}): {}",
                                join(differing, ", "), what_decided(facts, told));
    const auto& log = *facts.log;
    if (log.platform_opt_in) finding.evidence.push_back(line_evidence(facts, *log.platform_opt_in));
    for (const auto& other : log.domain_lines)
      finding.evidence.push_back(line_evidence(facts, other));
    return;
  }
  if (is_any(facts, Translation::unknown)) {
    finding.cause = "there's a device whose group's type can't be told";
    return;
  }
  finding.status = Status::ok;
  finding.remedy.clear();
}

std::vector<Finding> run(const Facts& facts) {
  Finding finding{.id = std::string(record.id)};
  if (!facts.devices) {
    finding.evidence = {{"/sys/bus/pci/devices", facts.devices.error().text(), facts.match_list}};
    finding.cause = "the PCI devices can't be listed";
    finding.remedy = "see iommu.group-type";
    return {finding};
  }
  if (facts.devices->empty()) return {no_devices(std::string(record.id), facts)};
  const auto* line = facts.log && facts.log->default_domain ? &*facts.log->default_domain : nullptr;
  finding.evidence.push_back(line != nullptr ? line_evidence(facts, *line) : log_evidence(facts));
  if (has_no_iommu(facts)) {
    finding.status = Status::not_applicable;
    finding.cause = "no device is in an IOMMU group, so the line means nothing here";
    finding.evidence.push_back(unit_evidence(facts));
    return {finding};
  }
  for (const auto& device : *facts.devices)
    finding.evidence.push_back(group_evidence(device));
  if (line != nullptr) {
    compare(facts, *line, finding);
  } else if (log_is_whole(facts)) {
    finding.status = Status::not_applicable;
    finding.cause = "this kernel prints no such line";
  } else {
    finding.cause = why_not_whole(facts);
    finding.remedy = how_to_get_whole(facts);
  }
  return {finding};
}

}  // namespace

const Check iommu_default_domain{record, run};

}  // namespace peerpath::check
