// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/operations.hpp"

#include <string>

namespace peerpath::report {

/// For a person: a table kernel × mode × what decides it and where, then what was changed.
[[nodiscard]] std::string boot_text(const boot::Outcome& outcome, bool colour);

/// One JSON document, as schema/boot.schema.json describes it, with a line end.
[[nodiscard]] std::string boot_json(const boot::Outcome& outcome);

}  // namespace peerpath::report
