// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string_view>

namespace peerpath::probe {

/// Whether the content of one of depmod's modules.*.bin is whole. libkmod doesn't look: it crashes
/// on one that was cut off. Facts: libkmod/libkmod-index.h for the format; tools/depmod.c writes
/// a node's children before the node, so that an offset never points forward.
[[nodiscard]] bool is_whole_index(std::string_view content);

}  // namespace peerpath::probe
