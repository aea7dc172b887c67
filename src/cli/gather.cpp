// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/gather.hpp"

#include "base/exit_status.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "boot/operations.hpp"
#include "check/record.hpp"
#include "cli/gpu_status.hpp"
#include "cli/topology.hpp"
#include "gpu/nvml_driver.hpp"

#include <fmt/format.h>

#include <algorithm>
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

/// Only where the answer is about the devices to be checked: the driver serves this kernel's, and
/// asking takes time.
Result<check::GpuStatus> ask_driver(const System& system, const check::Facts& facts) {
  if (!system.is_own_root()) return fail(Errc::unsupported, "not asked in a recorded tree");
  if (!system.is_booted()) return fail(Errc::unsupported, "not asked inside a container or chroot");
  if (!facts.devices) return fail(facts.devices.error());
  constexpr std::uint16_t nvidia = 0x10de;
  const auto& devices = *facts.devices;
  const bool any = std::any_of(devices.begin(), devices.end(), [](const probe::PciDevice& device) {
    return device.vendor == nvidia;
  });
  if (!any) return fail(Errc::unsupported, "no device of NVIDIA's is to be checked");
  return gpu_status(gpu::ask_nvml(), facts.nvidia);
}

/// Adds the RDMA network adapters, in order of their address and each device once.
Result<std::vector<probe::PciDevice>> with_rdma_nics(
    const System& system, const Result<std::vector<probe::PciDevice>>& devices) {
  if (!devices) return devices;
  auto all = *devices;
  auto nics = probe::find_rdma_nics(system);
  if (!nics) return nics;
  for (auto& nic : *nics) {
    const auto is_it = [&](const probe::PciDevice& device) { return device.bdf == nic.bdf; };
    if (std::none_of(all.begin(), all.end(), is_it)) all.push_back(std::move(nic));
  }
  std::sort(all.begin(), all.end(),
            [](const probe::PciDevice& a, const probe::PciDevice& b) { return a.bdf < b.bdf; });
  return all;
}

Result<probe::PciTree> read_tree(const System& system,
                                 const Result<std::vector<probe::PciDevice>>& devices) {
  if (!devices) return fail(devices.error());
  std::vector<std::string> addresses;
  for (const auto& device : *devices)
    addresses.push_back(device.bdf);
  return probe::read_pci_tree(system, addresses);
}

std::vector<probe::IommuGroup> read_groups(const System& system,
                                           const Result<std::vector<probe::PciDevice>>& devices) {
  if (!devices) return {};
  std::vector<std::string> numbers;
  for (const auto& device : *devices) {
    if (device.group) numbers.push_back(*device.group);
  }
  return probe::read_iommu_groups(system, numbers);
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

Result<std::vector<probe::PciMatch>> parse_patterns(const std::vector<std::string>& patterns) {
  std::vector<probe::PciMatch> matches;
  for (const auto& pattern : patterns) {
    auto match = probe::parse_pci_match(pattern);
    if (!match) return fail(Errc::usage, match.error().text());
    matches.push_back(std::move(*match));
  }
  return matches;
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

  if (choice.rdma_nics) devices = with_rdma_nics(system, devices);
  auto kernel = probe::read_kernel(system);
  auto configured = kernel.release ? configured_boot(system, *kernel.release)
                                   : Result<check::ConfiguredBoot>(fail(kernel.release.error()));
  check::Facts facts;
  facts.command_line = system.read("/proc/cmdline");
  facts.kernel = std::move(kernel);
  facts.devices = std::move(devices);
  facts.match_list = join(choice.addresses.empty() ? choice.patterns : choice.addresses, ", ");
  if (choice.rdma_nics) facts.match_list += ", RDMA network adapters";
  facts.iommu = probe::read_iommu_units(system);
  facts.configured = std::move(configured);
  facts.tree = read_tree(system, facts.devices);
  facts.groups = read_groups(system, facts.devices);
  facts.log = probe::read_kernel_log(system);
  facts.machine = probe::read_machine(system, facts.kernel);
  facts.nvidia = probe::read_nvidia_module(system);
  facts.gpus = ask_driver(system, facts);
  return facts;
}

std::vector<check::Finding> run_checks(const check::Facts& facts) {
  std::vector<check::Finding> findings;
  for (const auto* check : check::all_checks()) {
    for (auto& finding : check->run(facts))
      findings.push_back(std::move(finding));
  }
  return findings;
}

report::TextStyle text_style(const Invocation& invocation) {
  return {.colour = invocation.colour,
          .unicode = invocation.unicode,
          .verbose = invocation.flag("verbose")};
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
  report.topology = topology_of(facts);
  report.findings = std::move(findings);
  report.verdict = verdict;
  report.exit_status = static_cast<int>(exit_status_of(verdict));
  return report;
}

}  // namespace peerpath::cli
