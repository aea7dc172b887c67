// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/kernel_image.hpp"

#include "base/text.hpp"

namespace peerpath::boot {
namespace {

std::string version_in(const std::string& name) {
  for (const std::string_view prefix : {"vmlinuz-", "vmlinux-", "kernel-", "linux-", "bzImage-"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return "";
}

}  // namespace

std::optional<std::string> find_kernel(const System& system, const std::string& kernel,
                                       std::string_view partition) {
  const std::string mount(partition);
  for (const auto& path : {mount + kernel, kernel, mount + "/" + base_name(kernel)}) {
    if (path.starts_with('/') && system.exists(path)) return path;
  }
  return std::nullopt;
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
