// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmdline/arch.hpp"

namespace peerpath::cmdline {

Arch arch_of(std::string_view machine) {
  if (machine == "x86_64" || machine == "amd64") return Arch::x86_64;
  if (machine == "aarch64" || machine == "arm64") return Arch::arm64;
  return Arch::other;
}

std::string_view name_of(Arch arch) {
  switch (arch) {
    case Arch::x86_64:
      return "x86_64";
    case Arch::arm64:
      return "arm64";
    case Arch::other:
      break;
  }
  return "other";
}

}  // namespace peerpath::cmdline
