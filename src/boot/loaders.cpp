// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/loaders.hpp"

#include "boot/bls.hpp"
#include "boot/garden_linux.hpp"
#include "boot/grub_block.hpp"
#include "boot/grub_dropin.hpp"
#include "boot/kernelstub.hpp"
#include "boot/ostree.hpp"
#include "boot/proxmox.hpp"
#include "boot/sdbootutil.hpp"
#include "boot/uki.hpp"
#include "boot/unsupported.hpp"

#include <fmt/format.h>

#include <array>

namespace peerpath::boot {

std::span<const BootLoader* const> all_boot_loaders() {
  static const Ostree ostree;
  static const Proxmox proxmox;
  static const GardenLinux garden_linux;
  static const Sdbootutil sdbootutil;
  static const Kernelstub kernelstub;
  static const Bls bls;
  static const GrubDropin grub_dropin;
  static const GrubBlock grub_block;
  static const Uki uki;
  static const std::array<const BootLoader*, 9> all{
      &ostree, &proxmox,     &garden_linux, &sdbootutil, &kernelstub,
      &bls,    &grub_dropin, &grub_block,   &uki,
  };
  return all;
}

Result<std::vector<const BootLoader*>> find_boot_loaders(const System& system, cmdline::Arch arch) {
  for (const auto* loader : all_boot_loaders()) {
    if (loader->rules_alone() && loader->detect(system)) return std::vector{loader};
  }
  // Systems that one of the others would take for its own, though another file decides there.
  if (const auto unsupported = find_unsupported(system, arch)) {
    return fail(Errc::unsupported,
                fmt::format("'{}': {}; {}", system.root(), unsupported->what, unsupported->remedy));
  }
  std::vector<const BootLoader*> found;
  for (const auto* loader : all_boot_loaders()) {
    if (!loader->rules_alone() && loader->detect(system)) found.push_back(loader);
  }
  if (!found.empty()) return found;
  return fail(Errc::unsupported,
              fmt::format("'{}': no boot loader found that this version can set up; add '{}' to "
                          "every kernel's command line by hand",
                          system.root(), cmdline::passthrough_word(arch)));
}

}  // namespace peerpath::boot
