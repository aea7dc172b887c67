// SPDX-License-Identifier: GPL-2.0-or-later
// What holds for every text whatever, used by the tests on made-up lines and by the fuzzer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace peerpath::test {

/// The first statement about the command line room that isn't true of this text; nothing when
/// all hold.
[[nodiscard]] std::optional<std::string> broken_invariant(std::string_view text);

}  // namespace peerpath::test
