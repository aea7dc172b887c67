// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <compare>
#include <optional>
#include <string_view>

namespace peerpath::cmdline {

/// A kernel's release number: 6.1.0-35-amd64 is 6.1.
struct KernelVersion {
  int major = 0;
  int minor = 0;

  auto operator<=>(const KernelVersion&) const = default;
};

/// From the start of `uname -r` or of what follows `vmlinuz-` in a file name; nothing where it
/// doesn't start with MAJOR.MINOR.
[[nodiscard]] std::optional<KernelVersion> kernel_version(std::string_view release);

}  // namespace peerpath::cmdline
