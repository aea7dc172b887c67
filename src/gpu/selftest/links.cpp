// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/selftest/links.hpp"

namespace peerpath::gpu {

Path LinkGraph::path(const std::string& from, const std::string& to) const {
  const auto found = paths.find({from, to});
  return found == paths.end() ? Path() : found->second;
}

}  // namespace peerpath::gpu
