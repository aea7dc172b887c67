// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace peerpath::cli {

/// Runs the command line (without the program's name) and returns the exit status.
/// `out_is_terminal` allows colour; NO_COLOR and TERM=dumb forbid it.
[[nodiscard]] int run_application(const std::vector<std::string>& arguments, std::ostream& out,
                                  std::ostream& err, bool out_is_terminal);

}  // namespace peerpath::cli
