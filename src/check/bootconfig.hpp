// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace peerpath::check {

/// A command line as the kernel's parsers of the default domain saw it.
struct EarlyCommandLine {
  std::string text;                      ///< without the words that came too late
  std::vector<std::string> ineffective;  ///< those words: `iommu="pt"`
};

/// Takes out of /proc/cmdline what a bootconfig put there in vain: the kernel puts the
/// keys under `kernel.` in front of the boot loader's words, but `iommu=` and `iommu.*` are parsed
/// before that. Options parsed later, such as `intel_iommu=`, stay.
/// `bootconfig` is the text of /proc/bootconfig, empty where there is none.
/// Errors: malformed where that can't be parsed or doesn't fit the command line.
/// Facts: init/main.c setup_command_line and xbc_snprint_cmdline (it quoted every value until
/// 6.9 or so, then only those with white space), fs/proc/bootconfig.c.
[[nodiscard]] Result<EarlyCommandLine> without_late_words(std::string_view command_line,
                                                          std::string_view bootconfig);

}  // namespace peerpath::check
