// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmdline/options.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace peerpath::cmdline {

IommuOption read_iommu(std::string_view value) {
  IommuOption option;
  for (const auto item : split(value, ',')) {
    if (item.starts_with("off")) option.off = true;
    if (item.starts_with("usedac")) {
      option.cut_short = true;
      break;
    }
    if (item.starts_with("pt")) option.passthrough = true;
    if (item.starts_with("nopt")) option.passthrough = false;
  }
  return option;
}

std::optional<bool> read_bool(std::string_view value, KernelVersion version) {
  constexpr KernelVersion takes_t{5, 19};
  constexpr KernelVersion takes_e{6, 17};
  const char first = value.empty() ? '\0' : value[0];
  const char second = value.size() < 2 ? '\0' : value[1];
  switch (first) {
    case 'y':
    case 'Y':
    case '1':
      return true;
    case 't':
    case 'T':
      return version >= takes_t ? std::optional(true) : std::nullopt;
    case 'e':
    case 'E':
      return version >= takes_e ? std::optional(true) : std::nullopt;
    case 'n':
    case 'N':
    case '0':
    case 'f':
    case 'F':
    case 'd':
    case 'D':
      return false;
    case 'o':
    case 'O':
      if (second == 'n' || second == 'N') return true;
      if (second == 'f' || second == 'F') return false;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<bool> read_intel_iommu(std::string_view value) {
  std::optional<bool> on;
  for (const auto item : split(value, ',')) {
    if (item.starts_with("on")) on = true;
    if (item.starts_with("off")) on = false;
  }
  return on;
}

bool amd_iommu_is_off(std::string_view value, KernelVersion version) {
  if (version < KernelVersion{6, 1}) return value.find("off") != std::string_view::npos;
  const auto items = split(value, ',');
  return std::ranges::any_of(items, [](auto item) { return item.starts_with("off"); });
}

}  // namespace peerpath::cmdline
