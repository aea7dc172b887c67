// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/record.hpp"

#include <span>

namespace peerpath::check {

/// What the self-test can come to: `p2p.selftest`, the finding over all pairs, and then the classes
/// of pairs that didn't pass.
[[nodiscard]] std::span<const Record> selftest_records();

}  // namespace peerpath::check
