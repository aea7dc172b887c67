// SPDX-License-Identifier: GPL-2.0-or-later
// Words on the command line that are taken to change ACS, and don't.
#include "base/text.hpp"
#include "check/checks.hpp"
#include "check/devices.hpp"
#include "check/running.hpp"
#include "cmdline/pci_options.hpp"
#include "cmdline/tokenise.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "pcie.acs-override",
    .title = "ACS words on the kernel command line",
    .message_id = "d5f6f196a76c40488044469782d3fada",
    .meaning =
        "Looks on the kernel command line for words that are meant to change ACS but don't do what "
        "their author may think: 'pcie_acs_override=', which only patched kernels know and which "
        "splits IOMMU groups without changing where transactions go; options of 'pci=' that don't "
        "exist, such as 'noacs'; a second 'disable_acs_redir=', which takes the place of the "
        "first; devices separated by ',' where ';' is needed.",
    .causes =
        "The word was copied from a guide for passing GPUs through to virtual machines, or two "
        "tools each added theirs.",
    .remedy =
        "Take the word away. What the registers hold tells pcie.acs-redirect, together with the "
        "word that turns redirect off.",
    .since = "0.1.0",
};

constexpr std::string_view disable = "disable_acs_redir=";
constexpr std::string_view configure = "config_acs=";

/// "0000:02:00.0", the second device of a list that a comma cut.
bool looks_like_device(std::string_view option) {
  return option.find(':') != std::string_view::npos && option.find('.') != std::string_view::npos &&
         option.find('=') == std::string_view::npos;
}

std::vector<std::string> bad_options(const std::vector<std::string>& options) {
  std::vector<std::string> bad;
  const auto is_disable = [](const std::string& option) { return option.starts_with(disable); };
  const auto last = std::find_if(options.rbegin(), options.rend(), is_disable);
  for (const auto& option : options) {
    const auto shown = printable(option);
    if (is_disable(option)) {
      if (option != *last) {
        bad.push_back(
            fmt::format("'pci={}' isn't in force: '{}' comes later, and only the last "
                        "one counts",
                        shown, printable(*last)));
      }
    } else if (option.starts_with(configure)) {
      continue;
    } else if (option.find("acs") != std::string::npos) {
      bad.push_back(fmt::format("'pci={}': the kernel knows no such option", shown));
    } else if (looks_like_device(option)) {
      bad.push_back(fmt::format("'{}': a ',' ends the list of devices before it, use ';'", shown));
    }
  }
  return bad;
}

std::vector<std::string> bad_words(std::string_view command_line) {
  auto bad = bad_options(cmdline::pci_options(command_line));
  for (const auto& token : cmdline::tokenise(command_line)) {
    if (token.for_init || !cmdline::same_name(token.name, "pcie_acs_override")) continue;
    bad.push_back(fmt::format(
        "'{}': unknown to kernels without a patch; with it the kernel only believes that there is "
        "isolation, transactions go the same way",
        printable(token.text)));
  }
  return bad;
}

std::vector<Finding> run(const Facts& facts) {
  const std::string id(record.id);
  if (facts.devices && facts.devices->empty()) return {no_devices(id, facts)};
  if (!facts.command_line) return {unjudged(id, facts.command_line.error())};
  const auto bad = bad_words(*facts.command_line);
  Finding finding{.id = id, .status = bad.empty() ? Status::ok : Status::warn};
  if (bad.empty()) {
    finding.evidence = {{"/proc/cmdline", "no such word", "no word that only seems to change ACS"}};
    return {finding};
  }
  for (const auto& word : bad)
    finding.evidence.push_back({"/proc/cmdline", word, "no word that only seems to change ACS"});
  finding.cause = bad.size() == 1 ? bad.front() : "words that don't do what they seem to";
  finding.remedy =
      "take it off the kernel command line and reboot; pcie.acs-redirect tells what "
      "the registers hold";
  return {finding};
}

}  // namespace

const Check pcie_acs_override{record, run};

}  // namespace peerpath::check
