// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "cli/command.hpp"
#include "report/verify_report.hpp"

#include <cstdint>
#include <string_view>

namespace peerpath::cli {

/// What `status --format` takes.
inline constexpr std::string_view status_formats = "npd, nfd, prometheus";
[[nodiscard]] bool is_status_format(std::string_view format);

/// The report, or why there's none, as another program takes it, `now` in seconds since 1970. That
/// program's meaning of the exit status comes before ours: npd has 0, 1 and 2, whatever went wrong;
/// nfd has 0, for the file says what is known; prometheus has 0 with a report, else `without`'s.
[[nodiscard]] Answer formatted(std::string_view format, const Result<report::VerifyReport>& report,
                               ExitStatus without, std::int64_t now);

}  // namespace peerpath::cli
