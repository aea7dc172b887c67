// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/gather.hpp"

#include "base/exit_status.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "boot/operations.hpp"
#include "check/record.hpp"

#include <fmt/format.h>

#include <utility>

namespace peerpath::cli {
namespace {

/// Of several entries for the running kernel the worst counts: which one is chosen at boot isn't
/// known.
Result<check::ConfiguredBoot> configured_boot(const System& system, const std::string& release) {
  const auto outcome = boot::audit(system, {.kernel = release});
  if (!outcome) return fail(outcome.error());
  if (outcome->status == ExitStatus::unsupported || outcome->status == ExitStatus::not_applicable) {
    return fail(Errc::unsupported, join(outcome->messages, "; "));
  }
  const boot::JudgedEntry* chosen = nullptr;
  for (const auto& entry : outcome->entries) {
    if (!entry.entry.kernel_present) continue;
    if (!entry.mode) {
      return fail(
          Errc::malformed,
          fmt::format("{}: which command line it gets is known only at boot", entry.entry.place()));
    }
    if (chosen == nullptr || !entry.untranslated()) chosen = &entry;
    if (!entry.untranslated()) break;
  }
  if (chosen == nullptr) {
    return fail(Errc::not_found, fmt::format("no boot entry for kernel {}", release));
  }
  return check::ConfiguredBoot{*chosen->mode, chosen->entry.place()};
}

Result<std::vector<probe::PciMatch>> parse_patterns(const std::vector<std::string>& patterns) {
  std::vector<probe::PciMatch> matches;
  for (const auto& pattern : patterns) {
    auto match = probe::parse_pci_match(pattern);
    if (!match) return fail(Errc::usage, match.error().text());
    matches.push_back(std::move(*match));
  }
  return matches;
}

std::optional<std::string> known(const Result<std::string>& value) {
  return value ? std::optional(*value) : std::nullopt;
}

}  // namespace

ExitStatus exit_status_of(check::Status verdict) {
  switch (verdict) {
    case check::Status::ok:
    case check::Status::warn:
      return ExitStatus::good;
    case check::Status::fail:
      return ExitStatus::check_failed;
    case check::Status::not_applicable:
      return ExitStatus::not_applicable;
    case check::Status::unknown:
      break;
  }
  return ExitStatus::unknown;
}

Result<check::Facts> gather_facts(const System& system, const DeviceChoice& choice) {
  const auto matches = parse_patterns(choice.patterns);
  if (!matches) return fail(matches.error());
  auto devices = choice.addresses.empty() ? probe::find_pci_devices(system, *matches)
                                          : probe::read_pci_devices(system, choice.addresses);
  // A device that the user named and that isn't there is the user's to know of.
  if (!devices && !choice.addresses.empty()) {
    const bool no_address = devices.error().code == Errc::malformed;
    return no_address ? fail(Errc::usage, devices.error().text()) : fail(devices.error());
  }

  auto kernel = probe::read_kernel(system);
  auto configured = kernel.release ? configured_boot(system, *kernel.release)
                                   : Result<check::ConfiguredBoot>(fail(kernel.release.error()));
  return check::Facts{
      .command_line = system.read("/proc/cmdline"),
      .kernel = std::move(kernel),
      .devices = std::move(devices),
      .match_list = join(choice.addresses.empty() ? choice.patterns : choice.addresses, ", "),
      .iommu = probe::read_iommu_units(system),
      .configured = std::move(configured),
  };
}

std::vector<check::Finding> run_checks(const check::Facts& facts) {
  std::vector<check::Finding> findings;
  for (const auto* check : check::all_checks()) {
    for (auto& finding : check->run(facts))
      findings.push_back(std::move(finding));
  }
  return findings;
}

report::VerifyReport make_report(report::VerifyReport::Kind kind, const System& system,
                                 const check::Facts& facts, std::vector<check::Finding> findings) {
  const auto verdict = check::verdict(findings);
  report::VerifyReport report;
  report.kind = kind;
  report.version = version();
  report.time = system.now().tv_sec;
  report.release = known(facts.kernel.release);
  report.machine = known(facts.kernel.machine);
  report.boot_id = known(facts.kernel.boot_id);
  if (facts.command_line) report.command_line = std::string(trim(*facts.command_line));
  report.findings = std::move(findings);
  report.verdict = verdict;
  report.exit_status = static_cast<int>(exit_status_of(verdict));
  return report;
}

}  // namespace peerpath::cli
