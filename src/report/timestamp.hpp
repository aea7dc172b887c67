// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace peerpath::report {

/// RFC 3339 in UTC, "2026-08-01T12:00:00Z", of seconds since 1970.
[[nodiscard]] std::string format_time(std::int64_t seconds);

/// Reads that form and no other.
[[nodiscard]] std::optional<std::int64_t> parse_time(const std::string& text);

}  // namespace peerpath::report
