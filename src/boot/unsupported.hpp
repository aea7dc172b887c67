// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "sys/system.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace peerpath::boot {

/// A way to boot that this version doesn't set up.
struct Unsupported {
  std::string what;         ///< what was found, and where
  std::string_view remedy;  ///< what to do by hand; `{word}` is our word
};

/// Tells by files under the root alone. Nothing where none was found.
[[nodiscard]] std::optional<Unsupported> find_unsupported(const System& system);

}  // namespace peerpath::boot
