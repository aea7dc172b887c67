// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

namespace peerpath::boot {

/// Runs a boot loader's own tool, at most ten minutes. Errors: command_failed with the last line
/// that it said, those of starting it.
[[nodiscard]] Result<> run_tool(const System& system, const RunTool& tool);

/// The last line that isn't empty, safe to print: what a tool said at its end.
[[nodiscard]] std::string last_line(const std::string& text);

}  // namespace peerpath::boot
