// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/tool.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace peerpath::boot {

std::string last_line(const std::string& text) {
  const auto all = lines(trim(text));
  return all.empty() ? "no message" : printable(trim(all.back()));
}

Result<> run_tool(const System& system, const RunTool& tool) {
  const auto result = system.run({.argv = tool.command, .limit = std::chrono::minutes(10)});
  if (!result) return fail(result.error());
  if (result->status == 0) return {};
  return fail(Errc::command_failed,
              fmt::format("'{}' ended with status {}: {}", join(tool.command, " "), result->status,
                          last_line(result->err)));
}

}  // namespace peerpath::boot
