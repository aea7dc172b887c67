// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmdline/version.hpp"

#include <charconv>

namespace peerpath::cmdline {
namespace {

/// Takes a number without a sign off the front of the text; nothing where there's none.
std::optional<int> take_number(std::string_view& text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

std::optional<KernelVersion> kernel_version(std::string_view release) {
  const auto major = take_number(release);
  if (!major || !release.starts_with('.')) return std::nullopt;
  release.remove_prefix(1);
  const auto minor = take_number(release);
  if (!minor) return std::nullopt;
  return KernelVersion{*major, *minor};
}

}  // namespace peerpath::cmdline
