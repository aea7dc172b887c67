// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/facts.hpp"
#include "report/topology.hpp"

namespace peerpath::cli {

/// The tree as reports show it, by address, each node before those below it. Empty where it could
/// not be read: the findings say why.
[[nodiscard]] report::Topology topology_of(const check::Facts& facts);

}  // namespace peerpath::cli
