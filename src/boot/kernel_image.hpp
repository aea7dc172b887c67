// SPDX-License-Identifier: GPL-2.0-or-later
// Kernel images, named as boot loaders name them.
#pragma once

#include "sys/system.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace peerpath::boot {

/// Finds the images of one inspection: a directory with many of them is listed once.
class KernelFinder {
 public:
  explicit KernelFinder(const System& system) : system_(system) {}

  /// Where the image is in this root, if it is. An entry may name it from the file system's own
  /// root: `/vmlinuz-…` with a separate /boot, `/@/boot/…` on btrfs. `partition` is where the file
  /// system that the entry is on is mounted: "/boot", "/efi", ...
  [[nodiscard]] std::optional<std::string> find(const std::string& kernel,
                                                std::string_view partition = "/boot");

 private:
  bool exists(const std::string& path);

  const System& system_;
  std::unordered_map<std::string, std::vector<std::string>> files_;  ///< by directory, sorted
};

/// The version from the image's name; a link's target, where it was found, tells more than
/// `/vmlinuz` does. Empty where the name has none.
[[nodiscard]] std::string kernel_version_of(const System& system, const std::string& kernel,
                                            const std::optional<std::string>& found);

/// Images that are loaded like Linux but aren't: memtest86+ and iPXE.
[[nodiscard]] bool is_other_program(std::string_view kernel);

}  // namespace peerpath::boot
