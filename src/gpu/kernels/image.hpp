// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string_view>

namespace peerpath::gpu {

/// The device code, PTX text that ends with a zero byte; empty where the build has none.
[[nodiscard]] std::string_view kernel_image();

}  // namespace peerpath::gpu
