// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "support/temp_root.hpp"

#include <filesystem>
#include <string>

namespace peerpath::test {

/// Copies the indexes of a kernel's modules to the root; tests/fixtures/modules/generate says what
/// is in them.
inline void add_modules(TempRoot& root, const std::string& version) {
  root.directory("/lib/modules");
  std::filesystem::copy(std::string(PEERPATH_TESTS_DIR) + "/fixtures/modules/" + version,
                        root.outside("/lib/modules/" + version),
                        std::filesystem::copy_options::recursive);
}

}  // namespace peerpath::test
