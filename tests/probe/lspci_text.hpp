// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "probe/config_space.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace peerpath::test {

/// What `lspci -xxxx` prints of one function. `address` with or without its domain.
inline std::string lspci_text(std::string_view address, std::string_view bytes,
                              std::string_view descriptions = "") {
  auto text = fmt::format("{} 3D controller: NVIDIA Corporation Device 2330 (rev a1)\n{}", address,
                          descriptions);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % 16 == 0) text += fmt::format("{:02x}:", i);
    text += fmt::format(" {:02x}", static_cast<unsigned char>(bytes[i]));
    if (i % 16 == 15) text += '\n';
  }
  return text + '\n';
}

inline ConfigSpace dumped_gpu() {
  return ConfigSpace().express(0).ids(0x10de, 0x2330, 0x030200).link(5, 16, 5, 16);
}

/// A root port, and below it a switch with two GPUs, whose downstream ports' ACS has these control
/// words.
inline std::string switch_dump(std::uint16_t first, std::uint16_t second) {
  const auto port = [](unsigned type, unsigned primary, unsigned secondary, unsigned subordinate) {
    return ConfigSpace().express(type).link(5, 16, 5, 16).bridge(primary, secondary, subordinate);
  };
  return lspci_text("00:01.0", port(4, 0, 1, 4).acs(0x0f, 0x1d).bytes()) +
         lspci_text("01:00.0", port(5, 1, 2, 4).bytes()) +
         lspci_text("02:08.0", port(6, 2, 3, 3).acs(0x5f, first).bytes()) +
         lspci_text("02:10.0", port(6, 2, 4, 4).acs(0x5f, second).bytes()) +
         lspci_text("03:00.0", dumped_gpu().bytes()) + lspci_text("04:00.0", dumped_gpu().bytes());
}

/// The dump without this function. `address` as in the text.
inline std::string without(const std::string& dump, const std::string& address) {
  const auto from = dump.find(address + " ");
  return dump.substr(0, from) + dump.substr(dump.find("\n\n", from) + 2);
}

}  // namespace peerpath::test
