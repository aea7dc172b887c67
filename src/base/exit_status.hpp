// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"

namespace peerpath {

/// What every command ends with; the table is in peerpath(8).
enum class ExitStatus {
  good = 0,    ///< or nothing to do
  failed = 1,  ///< the command itself
  usage = 2,
  check_failed = 3,  ///< a check or test
  unknown = 4,       ///< could not tell
  conflict = 5,      ///< the administrator's setting contradicts ours; nothing changed
  unsupported = 6,   ///< boot loader or platform; nothing changed
  not_applicable = 77,
};

/// The status of a command that ended with an error.
[[nodiscard]] ExitStatus exit_status_of(Errc code);

}  // namespace peerpath
