// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/facts.hpp"
#include "check/finding.hpp"
#include "report/selftest_report.hpp"

namespace peerpath::cli {

/// What a run of the self-test comes to: `p2p.selftest`. Good only where every pair passed. Not
/// applicable without an NVIDIA driver or with fewer than two GPUs.
[[nodiscard]] check::Finding selftest_finding(const report::Selftest& selftest);

/// The same finding where the settings turn the self-test off.
[[nodiscard]] check::Finding selftest_is_off();

/// The checks are advisory, the self-test decides. A failure that speaks only of devices whose
/// pairs were all tested in full, by copies as well as by loads and stores, and all passed, becomes
/// a warning that keeps its cause and remedy: NVIDIA doesn't support translated peers, yet their
/// data is right today. Where one device wasn't tested, or one pair did not pass, nothing changes.
void weigh_by_selftest(std::vector<check::Finding>& findings, const check::Facts& facts,
                       const report::Selftest& selftest);

}  // namespace peerpath::cli
