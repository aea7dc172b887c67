// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "cmdline/arch.hpp"

#include <string>
#include <string_view>

namespace peerpath::cmdline {

/// Why a word that stands at the end of a command line doesn't have its way there: "an open quote
/// takes it in", "overridden by 'iommu=nopt'". For a line that was judged not to do what the word
/// asks for.
[[nodiscard]] std::string why_not_in_force(std::string_view command_line, std::string_view word,
                                           Arch arch);

}  // namespace peerpath::cmdline
