// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/finding.hpp"

#include <string>
#include <string_view>

namespace peerpath::report {

/// The text's words in lines of at most `width` columns, each line ended. `first` comes before the
/// first line, `rest` before the others. A word that's too long has a line of its own.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::string_view first,
                                  std::string_view rest);

/// Columns, as far as every character has one.
[[nodiscard]] std::size_t columns(std::string_view text);

/// The text in at most `width` columns; where something had to go, `end` is its end.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width, std::string_view end);

/// The text in the status' colour, by ECMA-48 sequences, where colours are wanted.
[[nodiscard]] std::string painted(std::string_view text, check::Status status, bool colour);

/// "SOURCE: OBSERVED (expected EXPECTED)", safe to print.
[[nodiscard]] std::string evidence_line(const check::Evidence& evidence);

/// "1 fail, 2 ok": how many findings of each status, worst first. "no findings" where none.
[[nodiscard]] std::string counts(const std::vector<check::Finding>& findings);

/// 0 for the worst status, in check::verdict's order.
[[nodiscard]] int rank(check::Status status);

}  // namespace peerpath::report
