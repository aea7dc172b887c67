// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the kernel has reported accesses of the devices that went wrong, in this boot.
#include "base/text.hpp"
#include "check/checks.hpp"
#include "check/devices.hpp"
#include "check/log_evidence.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "kernel.dma-faults",
    .title = "Device faults in the kernel log",
    .message_id = "3b28553e74ac4df6a5f1a6cfb7df0195",
    .meaning =
        "Counts the faults in this boot's kernel log: those that the IOMMU reports (DMAR, AMD-Vi, "
        "SMMU) and those of NVIDIA's driver (Xid, failed mappings of peers). It warns of those of "
        "the devices to be checked and of the bridges above them, one finding each, and of those "
        "that name no device. Without any, the log is no proof: many a lost copy leaves no line.",
    .causes =
        "An IOMMU translates and a GPU writes to a peer at an address that it doesn't know; a "
        "driver's error, or a program's (many Xids); failing hardware. Unknown: the kernel log "
        "can't be read, has lost its beginning, or the kernel's rate limit kept lines out of it.",
    .remedy =
        "Where an IOMMU reports a GPU, see iommu.group-type: with passthrough there are no such "
        "faults. For an Xid, see NVIDIA's list of Xid errors. Then reboot and look again.",
    .since = "0.1.0",
};

using Faults = std::vector<const probe::DmaFault*>;

/// The log's faults by whose they are.
struct Sorted {
  std::map<std::string, Faults> ours;  ///< by BDF: devices to be checked and bridges above them
  Faults nameless;
  std::vector<std::string> others;  ///< "0000:00:14.0 (12)"
};

std::set<std::string> watched(const Facts& facts) {
  std::set<std::string> bdfs;
  for (const auto& device : *facts.devices)
    bdfs.insert(device.bdf);
  if (facts.tree) {
    for (const auto& [bdf, node] : facts.tree->nodes)
      bdfs.insert(bdf);
  }
  return bdfs;
}

/// Those of the watched that a line may speak of. Many kernels leave the domain out, and then it
/// reads as 0: where no such function is watched, the same address in any domain may be meant.
std::vector<std::string> meant(const std::set<std::string>& bdfs, const std::string& bdf) {
  if (bdfs.count(bdf) != 0) return {bdf};
  std::vector<std::string> found;
  if (!bdf.starts_with("0000:")) return found;
  for (const auto& other : bdfs) {
    if (other.ends_with(bdf.substr(4))) found.push_back(other);
  }
  return found;
}

Sorted sort(const Facts& facts) {
  const auto bdfs = watched(facts);
  Sorted sorted;
  for (const auto& fault : facts.log->faults) {
    if (!fault.bdf) {
      sorted.nameless.push_back(&fault);
      continue;
    }
    const auto ours = meant(bdfs, *fault.bdf);
    for (const auto& bdf : ours)
      sorted.ours[bdf].push_back(&fault);
    if (ours.empty()) {
      sorted.others.push_back(fmt::format("{} ({})", printable(*fault.bdf), fault.count));
    }
  }
  return sorted;
}

bool is_by_iommu(const probe::DmaFault& fault) {
  return fault.source != probe::DmaFault::Source::xid &&
         fault.source != probe::DmaFault::Source::nvidia;
}

/// What holds for the whole log, whatever its faults.
void add_common_evidence(const Facts& facts, const Sorted& sorted, Finding& finding) {
  finding.evidence.push_back(log_evidence(facts));
  const auto& log = *facts.log;
  if (log.suppressed != 0) {
    finding.evidence.push_back(
        {log.source, fmt::format("{} lines suppressed by the rate limit", log.suppressed), "none"});
  }
  if (!sorted.others.empty()) {
    constexpr std::size_t most = 8;
    auto names = sorted.others;
    const auto more = names.size() > most ? names.size() - most : 0;
    names.resize(names.size() - more);
    if (more != 0) names.push_back(fmt::format("{} more", more));
    finding.evidence.push_back({log.source, "faults of other devices: " + join(names, ", "), ""});
  }
}

Finding faulty(const Facts& facts, const Sorted& sorted, const Faults& faults,
               std::optional<std::string> device) {
  Finding finding{
      .id = std::string(record.id), .status = Status::warn, .device = std::move(device)};
  std::vector<std::string> counts;
  bool by_iommu = false;
  for (const auto* fault : faults) {
    by_iommu = by_iommu || is_by_iommu(*fault);
    counts.push_back(fmt::format("{} {}", fault->count, name_of(fault->source)));
    finding.evidence.push_back(line_evidence(facts, fault->first, "no fault"));
    if (fault->count > 1) finding.evidence.push_back(line_evidence(facts, fault->last, "no fault"));
  }
  add_common_evidence(facts, sorted, finding);
  finding.cause =
      fmt::format("faults in this boot's kernel log{}: {}",
                  finding.device ? "" : " whose device isn't named", join(counts, ", "));
  finding.remedy = by_iommu ? "see iommu.group-type: with passthrough there are no such faults"
                            : "look the Xid or the line up in NVIDIA's documentation";
  return finding;
}

/// No fault that's ours or might be.
Finding without_faults(const Facts& facts, const Sorted& sorted) {
  Finding finding{.id = std::string(record.id), .status = Status::ok};
  add_common_evidence(facts, sorted, finding);
  if (!log_is_whole(facts)) {
    finding.status = Status::unknown;
    finding.cause = why_not_whole(facts);
    finding.remedy = how_to_get_whole(facts);
  } else if (facts.log->suppressed != 0) {
    finding.status = Status::unknown;
    finding.cause =
        "the kernel's rate limit kept lines out of the log, which may have been about these "
        "devices";
    finding.remedy = "see to the faults that are in the log, reboot, and look again";
  }
  return finding;
}

Finding unreadable(std::string source, const std::string& error, std::string cause,
                   std::string remedy) {
  return {.id = std::string(record.id),
          .status = Status::unknown,
          .evidence = {{std::move(source), error, "no fault"}},
          .cause = std::move(cause),
          .remedy = std::move(remedy)};
}

std::vector<Finding> run(const Facts& facts) {
  if (!facts.devices) {
    const auto error = facts.devices.error().text();
    return {unreadable("/sys/bus/pci/devices", error, "the PCI devices can't be listed: " + error,
                       "mend what can't be read, then run 'peerpath verify' again")};
  }
  if (facts.devices->empty()) return {no_devices(std::string(record.id), facts)};
  if (!facts.log) {
    return {unreadable("kernel log", facts.log.error().text(), why_not_whole(facts),
                       how_to_get_whole(facts))};
  }
  const auto sorted = sort(facts);
  std::vector<Finding> findings;
  for (const auto& [bdf, faults] : sorted.ours)
    findings.push_back(faulty(facts, sorted, faults, bdf));
  if (!sorted.nameless.empty())
    findings.push_back(faulty(facts, sorted, sorted.nameless, std::nullopt));
  if (findings.empty()) findings.push_back(without_faults(facts, sorted));
  return findings;
}

}  // namespace

const Check kernel_dma_faults{record, run};

}  // namespace peerpath::check
