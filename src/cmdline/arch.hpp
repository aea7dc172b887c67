// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string_view>

namespace peerpath::cmdline {

enum class Arch { x86_64, arm64, other };

/// From `uname -m` or a package architecture: x86_64 and amd64, aarch64 and arm64.
[[nodiscard]] Arch arch_of(std::string_view machine);
/// "x86_64", "arm64", "other".
[[nodiscard]] std::string_view name_of(Arch arch);

}  // namespace peerpath::cmdline
