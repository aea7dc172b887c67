// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/facts.hpp"
#include "check/finding.hpp"

#include <string>

namespace peerpath::check {

/// "[12.345678] iommu: Default domain type: Translated", safe to print.
[[nodiscard]] std::string describe(const probe::LogLine& line);

/// The line, with the log that it's from.
[[nodiscard]] Evidence line_evidence(const Facts& facts, const probe::LogLine& line,
                                     std::string expected = "");

/// Whether the log is whole: a line that isn't in it wasn't printed.
[[nodiscard]] bool log_is_whole(const Facts& facts);

/// How far back the log reaches, or why it can't be read.
[[nodiscard]] Evidence log_evidence(const Facts& facts);

/// Where the log isn't whole: why, and what to do.
[[nodiscard]] std::string why_not_whole(const Facts& facts);
[[nodiscard]] std::string how_to_get_whole(const Facts& facts);

}  // namespace peerpath::check
