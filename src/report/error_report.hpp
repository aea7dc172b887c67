// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/exit_status.hpp"
#include "base/result.hpp"

#include <string>
#include <string_view>

namespace peerpath::report {

/// The document of a command that failed, as schema/error.schema.json describes it.
[[nodiscard]] std::string error_json(std::string_view command, const Error& error,
                                     ExitStatus status);

}  // namespace peerpath::report
