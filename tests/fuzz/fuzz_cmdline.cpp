// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a command line: everything that tests/cmdline/invariants.cpp says must hold.
#include "cmdline/invariants.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto broken = peerpath::test::broken_invariant(text)) {
    std::fprintf(stderr, "fuzz_cmdline: %s\n", broken->c_str());
    std::abort();
  }
  return 0;
}
