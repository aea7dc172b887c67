// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/version.hpp"

namespace peerpath {

std::string_view version() {
  return PEERPATH_VERSION;
}

}  // namespace peerpath
