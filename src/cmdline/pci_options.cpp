// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmdline/pci_options.hpp"

#include "base/text.hpp"
#include "cmdline/tokenise.hpp"
#include "cmdline/version.hpp"

#include <charconv>

namespace peerpath::cmdline {
namespace {

constexpr std::string_view disable = "disable_acs_redir=";

/// The third number of a release: 19 of 6.12.19-amd64; 0 without one.
int patch_level(std::string_view release) {
  const auto parts = split(release, '.');
  int level = 0;
  if (parts.size() > 2) {
    std::from_chars(parts[2].data(), parts[2].data() + parts[2].size(), level);
  }
  return level;
}

}  // namespace

std::vector<std::string> pci_options(std::string_view command_line) {
  std::vector<std::string> options;
  for (const auto& token : tokenise(command_line)) {
    if (token.for_init || token.name != "pci" || !token.value) continue;
    for (const auto option : split(*token.value, ',')) {
      if (!option.empty()) options.emplace_back(option);
    }
  }
  return options;
}

std::vector<std::string> acs_redir_disabled(std::string_view command_line) {
  std::vector<std::string> devices;
  for (const auto& option : pci_options(command_line)) {
    if (!option.starts_with(disable)) continue;
    devices.clear();
    for (const auto device : split(std::string_view(option).substr(disable.size()), ';')) {
      if (!device.empty()) devices.emplace_back(device);
    }
  }
  return devices;
}

bool breaks_disable_acs_redir(std::string_view release) {
  const auto version = kernel_version(release);
  if (!version || version->major != 6) return false;
  if (version->minor == 12) return patch_level(release) <= 19;
  return version->minor == 11 || version->minor == 13 || version->minor == 14;
}

}  // namespace peerpath::cmdline
