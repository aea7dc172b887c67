// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/leftovers.hpp"

#include "boot/regenerate.hpp"

#include <tuple>

namespace peerpath::boot {

void clear_leftovers(const System& system, const Ledger& ledger) {
  std::vector<std::string> paths{std::string(ledger_path)};
  for (const auto& file : ledger.files)
    paths.push_back(file.path);
  for (const auto& edit : ledger.edits)
    paths.push_back(edit.path);
  for (const auto& artefact : ledger.artefacts) {
    paths.push_back(artefact.path);
    clear_generated(system, artefact.path);
  }
  for (const auto& path : paths)
    std::ignore = system.remove_leftover(path);
}

}  // namespace peerpath::boot
