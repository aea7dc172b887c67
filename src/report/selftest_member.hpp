// SPDX-License-Identifier: GPL-2.0-or-later
// The self-test inside a JSON document: written and read back.
#pragma once

#include "report/json.hpp"
#include "report/json_reader.hpp"
#include "report/selftest_report.hpp"

namespace peerpath::report {

/// Which results of a pair's tests are in the document. Of the bad ones at most a few, with the
/// one that decided: all those of 16 GPUs take megabytes.
enum class Results { all, bad_ones };

[[nodiscard]] Json selftest_member(const Selftest& selftest, Results which);

/// Reads what `selftest_member` wrote. Throws a Flaw.
[[nodiscard]] Selftest read_selftest(const JsonNode& node);

}  // namespace peerpath::report
