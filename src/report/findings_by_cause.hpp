// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/finding.hpp"

#include <vector>

namespace peerpath::report {

/// Findings that differ in their device and evidence alone. Never empty.
using FindingGroup = std::vector<const check::Finding*>;

/// All of them, in the order of the worst. Must not outlive the findings.
[[nodiscard]] std::vector<FindingGroup> by_cause(const std::vector<check::Finding>& findings);

/// Whether they are ok or not applicable.
[[nodiscard]] bool says_nothing_bad(const FindingGroup& group);

}  // namespace peerpath::report
