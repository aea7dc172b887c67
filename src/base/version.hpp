// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string_view>

namespace peerpath {

/// The version of this build, as CMakeLists.txt states it.
[[nodiscard]] std::string_view version();

}  // namespace peerpath
