// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "report/topology.hpp"
#include "report/verify_report.hpp"

#include <string>

namespace peerpath::report {

/// The tree for a person: host bridges, below them bridges and the functions that are checked. A
/// bridge on the way from one of these to another has its ACS in colour: green where nothing
/// redirects, red where something does, magenta where that isn't known. Names are cut to the width,
/// other words never are. Empty without nodes.
[[nodiscard]] std::string tree_text(const Topology& topology, const TextStyle& style);

}  // namespace peerpath::report
