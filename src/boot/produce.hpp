// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/types.hpp"

#include <string>
#include <vector>

namespace peerpath::boot {

/// Has the addon made and puts it into place if it's what was asked for. What's put there are the
/// very bytes that were looked at. Its directory must be there.
/// Errors: each says that nothing was put there, and why.
[[nodiscard]] Result<> produce(const System& system, const Produce& step);

/// The names under which a run that was killed may have left a half-made addon.
[[nodiscard]] std::vector<std::string> half_produced(const std::string& path);

}  // namespace peerpath::boot
