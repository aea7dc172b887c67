// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/finding.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace peerpath::report {

/// Every status, in check::verdict's order.
inline constexpr std::array worst_first{check::Status::fail, check::Status::unknown,
                                        check::Status::warn, check::Status::ok,
                                        check::Status::not_applicable};

/// The status of that name; nothing where there is none.
[[nodiscard]] inline std::optional<check::Status> status_of(std::string_view name) {
  for (const auto status : worst_first) {
    if (name_of(status) == name) return status;
  }
  return std::nullopt;
}

}  // namespace peerpath::report
