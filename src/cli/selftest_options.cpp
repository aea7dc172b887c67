// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/selftest_options.hpp"

#include "base/text.hpp"
#include "probe/kernel_log_line.hpp"

#include <fmt/format.h>

#include <limits>

namespace peerpath::cli {

Result<std::string> parse_gpu_name(std::string_view text) {
  if (text.starts_with("GPU-") && text.size() > 4) return std::string(text);
  std::string lower(text);
  for (auto& c : lower)
    c = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  if (auto address = probe::parse_log_address(lower)) return *address;
  return fail(Errc::usage,
              fmt::format("'{}': neither the PCI address nor the UUID of a GPU", printable(text)));
}

Result<std::chrono::seconds> parse_budget(std::string_view text) {
  constexpr std::uint64_t day = 86'400;
  const auto seconds = parse_number(text);
  if (!seconds || *seconds < 1 || *seconds > day) {
    return fail(Errc::usage,
                fmt::format("'{}': not a number of seconds from 1 to {}", printable(text), day));
  }
  return std::chrono::seconds(*seconds);
}

Result<std::uint64_t> parse_size(std::string_view text) {
  unsigned shift = 0;
  auto digits = text;
  if (!text.empty()) {
    const char unit = text.back();
    shift = unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
    if (shift > 0) digits.remove_suffix(1);
  }
  const auto number = parse_number(digits);
  const bool fits = number && *number <= std::numeric_limits<std::uint64_t>::max() >> shift;
  if (!fits || (*number << shift) < 8) {
    return fail(Errc::usage, fmt::format("'{}': not a number of bytes from 8 up, nor one with K, M "
                                         "or G",
                                         printable(text)));
  }
  return *number << shift;
}

}  // namespace peerpath::cli
