// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/timestamp.hpp"

#include <ctime>

namespace peerpath::report {
namespace {

constexpr const char* form = "%Y-%m-%dT%H:%M:%SZ";

}  // namespace

std::string format_time(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  char text[64];
  if (::gmtime_r(&time, &parts) == nullptr) return format_time(0);
  return {text, std::strftime(text, sizeof text, form, &parts)};
}

std::optional<std::int64_t> parse_time(const std::string& text) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), form, &parts);
  if (end == nullptr) return std::nullopt;
  const std::int64_t seconds = ::timegm(&parts);
  // strptime is lenient: 31 February, missing zeros, blanks.
  if (format_time(seconds) != text) return std::nullopt;
  return seconds;
}

}  // namespace peerpath::report
