// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "cmdline/arch.hpp"
#include "sys/system.hpp"

#include <optional>
#include <string>

namespace peerpath::boot {

/// A way to boot that this version doesn't set up.
struct Unsupported {
  std::string what;    ///< what was found, and where
  std::string remedy;  ///< what to do by hand: each line as it should read, with our word
};

/// Tells by files under the root alone. Nothing where none was found.
[[nodiscard]] std::optional<Unsupported> find_unsupported(const System& system, cmdline::Arch arch);

}  // namespace peerpath::boot
