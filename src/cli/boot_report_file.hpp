// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string_view>

namespace peerpath::cli {

/// Where `boot-check` leaves its report and `status` finds it: gone at the next boot.
inline constexpr std::string_view report_directory = "/run/peerpath";
inline constexpr std::string_view report_path = "/run/peerpath/report.json";

}  // namespace peerpath::cli
