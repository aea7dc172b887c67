// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/exit_status.hpp"

namespace peerpath {

ExitStatus exit_status_of(Errc code) {
  switch (code) {
    case Errc::usage:
      return ExitStatus::usage;
    case Errc::conflict:
      return ExitStatus::conflict;
    case Errc::unsupported:
      return ExitStatus::unsupported;
    default:
      return ExitStatus::failed;
  }
}

}  // namespace peerpath
