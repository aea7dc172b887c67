// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/gather_dump.hpp"

#include "base/text.hpp"
#include "check/checks.hpp"
#include "probe/lspci_dump.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace peerpath::cli {
namespace {

/// 13 KiB a function, and descriptions beside.
constexpr std::size_t dump_limit = 64U << 20U;

tl::unexpected<Error> not_there() {
  return fail(Errc::unsupported, "not in the dump");
}

/// Facts of which nothing is known.
check::Facts no_facts() {
  check::Facts facts;
  facts.command_line = not_there();
  facts.kernel = {not_there(), not_there(), not_there(), not_there(), not_there()};
  facts.devices = not_there();
  facts.iommu.units = not_there();
  facts.configured = not_there();
  facts.tree = not_there();
  facts.log = not_there();
  facts.machine = {not_there(), not_there(), not_there(), not_there(),
                   not_there(), not_there(), not_there(), not_there()};
  facts.nvidia = {not_there(), not_there()};
  facts.gpus = not_there();
  return facts;
}

/// "FILE: 0000:3b:00.0" for what a running machine shows in /sys/bus/pci/devices/0000:3b:00.0.
std::string source_in(const std::string& file, const std::string& source) {
  constexpr std::string_view sysfs = "/sys/bus/pci/devices";
  if (!source.starts_with(sysfs)) return source;
  const auto parts = split(std::string_view(source).substr(sysfs.size()), '/');
  return parts.size() < 2 ? file : fmt::format("{}: {}", file, parts[1]);
}

}  // namespace

Result<check::Facts> gather_dump_facts(const System& system, const std::string& file,
                                       const DeviceChoice& choice) {
  const auto matches = parse_patterns(choice.patterns);
  if (!matches) return fail(matches.error());
  const auto text = system.read(file, dump_limit);
  if (!text) return fail(text.error());
  const auto in_file = [&](Error error) {
    return std::move(error).while_doing(fmt::format("'{}'", system.shown(file)));
  };
  const auto dump = probe::parse_lspci_dump(*text);
  if (!dump) return fail(in_file(dump.error()));
  auto devices = choice.addresses.empty()
                     ? Result<std::vector<probe::PciDevice>>(find_pci_devices(*dump, *matches))
                     : read_pci_devices(*dump, choice.addresses);
  if (!devices) {
    const bool no_address = devices.error().code == Errc::malformed;
    return no_address ? fail(Errc::usage, devices.error().text()) : fail(in_file(devices.error()));
  }

  std::vector<std::string> addresses;
  for (const auto& device : *devices)
    addresses.push_back(device.bdf);
  auto facts = no_facts();
  facts.devices = std::move(devices);
  facts.match_list = join(choice.addresses.empty() ? choice.patterns : choice.addresses, ", ");
  facts.tree = read_pci_tree(*dump, addresses);
  return facts;
}

std::vector<check::Finding> run_dump_checks(const check::Facts& facts, const std::string& file) {
  std::vector<check::Finding> findings;
  for (const auto* check : {&check::pcie_acs_redirect, &check::pcie_link}) {
    for (auto& finding : check->run(facts)) {
      for (auto& evidence : finding.evidence)
        evidence.source = source_in(file, evidence.source);
      if (finding.status == check::Status::unknown) {
        finding.remedy =
            "dump all devices as root with 'lspci -xxxx' and judge that, or run 'peerpath verify' "
            "on the machine itself";
      }
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace peerpath::cli
