// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/finding.hpp"
#include "report/selftest_report.hpp"

namespace peerpath::cli {

/// What a run of the self-test comes to: `p2p.selftest`. Good only where every pair passed. Not
/// applicable without an NVIDIA driver or with fewer than two GPUs.
[[nodiscard]] check::Finding selftest_finding(const report::Selftest& selftest);

/// The same finding where the settings turn the self-test off.
[[nodiscard]] check::Finding selftest_is_off();

}  // namespace peerpath::cli
