// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "cli/command.hpp"

namespace peerpath::cli {

extern const Command cmd_ensure;
extern const Command cmd_revert;
extern const Command cmd_audit;
extern const Command cmd_verify;
extern const Command cmd_record;
extern const Command cmd_selftest;
extern const Command cmd_boot_check;
extern const Command cmd_status;
extern const Command cmd_explain;

}  // namespace peerpath::cli
