// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdio>
#include <cstdlib>

namespace peerpath::fuzz {

/// Ends the program, as the fuzzer wants it, where something doesn't hold.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

}  // namespace peerpath::fuzz
