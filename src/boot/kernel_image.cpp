// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/kernel_image.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace peerpath::boot {
namespace {

std::string version_in(const std::string& name) {
  for (const std::string_view prefix : {"vmlinuz-", "vmlinux-", "kernel-", "linux-", "bzImage-"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return "";
}

}  // namespace

std::optional<std::string> KernelFinder::find(const std::string& kernel,
                                              std::string_view partition) {
  const std::string mount(partition);
  for (const auto& path : {mount + kernel, kernel, mount + "/" + base_name(kernel)}) {
    if (path.starts_with('/') && exists(path)) return path;
  }
  return std::nullopt;
}

bool KernelFinder::exists(const std::string& path) {
  const auto [known, added] = files_.try_emplace(directory_of(path));
  if (added) known->second = system_.list_files(known->first).value_or(std::vector<std::string>{});
  // What isn't listed may be there all the same: as a link, or on FAT by a name in other case.
  return std::ranges::binary_search(known->second, base_name(path)) || system_.exists(path);
}

std::string kernel_version_of(const System& system, const std::string& kernel,
                              const std::optional<std::string>& found) {
  if (found) {
    if (const auto resolved = system.resolve(*found)) return version_in(base_name(*resolved));
  }
  return version_in(base_name(kernel));
}

bool is_other_program(std::string_view kernel) {
  const auto name = base_name(kernel);
  return name.starts_with("memtest") || name == "ipxe.lkrn";
}

}  // namespace peerpath::boot
