// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/loaders.hpp"

#include "boot/bls.hpp"
#include "boot/grub_block.hpp"
#include "boot/grub_dropin.hpp"
#include "boot/unsupported.hpp"

#include <fmt/format.h>

#include <array>

namespace peerpath::boot {

std::span<const BootLoader* const> all_boot_loaders() {
  static const Bls bls;
  static const GrubDropin grub_dropin;
  static const GrubBlock grub_block;
  static const std::array<const BootLoader*, 3> all{&bls, &grub_dropin, &grub_block};
  return all;
}

Result<std::vector<const BootLoader*>> find_boot_loaders(const System& system, cmdline::Arch arch) {
  // Systems that a loader of ours would take for its own, though another file decides there.
  if (const auto found = find_unsupported(system)) {
    return fail(Errc::unsupported,
                fmt::format("'{}': {}; {}", system.root(), found->what,
                            fmt::format(fmt::runtime(found->remedy),
                                        fmt::arg("word", cmdline::passthrough_word(arch)))));
  }
  std::vector<const BootLoader*> found;
  for (const auto* loader : all_boot_loaders()) {
    if (!loader->detect(system)) continue;
    if (loader->rules_alone()) return std::vector{loader};
    found.push_back(loader);
  }
  if (!found.empty()) return found;
  return fail(Errc::unsupported,
              fmt::format("'{}': no boot loader found that this version can set up; add '{}' to "
                          "every kernel's command line by hand",
                          system.root(), cmdline::passthrough_word(arch)));
}

}  // namespace peerpath::boot
