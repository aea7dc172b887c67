// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::check {

/// `unknown` means that it could not be read or told; it's never `ok`.
enum class Status { ok, warn, fail, unknown, not_applicable };

/// "ok", "warn", "fail", "unknown", "not-applicable".
[[nodiscard]] std::string_view name_of(Status status);

/// What was looked at: a file or call, what it said, and what would have been right.
struct Evidence {
  std::string source;
  std::string observed;
  std::string expected;
};

/// One result of one check, about one device where `device` is set (its BDF).
struct Finding {
  std::string id;
  Status status = Status::unknown;
  std::optional<std::string> device = {};
  std::vector<Evidence> evidence = {};   ///< at least one, whatever the status
  std::string cause = {};                ///< why it is so; empty when ok
  std::string remedy = {};               ///< what to do; set exactly when fail, warn or unknown
  std::optional<std::string> peer = {};  ///< the other device, where it is about a pair
};

/// The worst of the findings' statuses: fail, unknown, warn, ok, in this order.
/// Not applicable where nothing applied, or there are none.
[[nodiscard]] Status verdict(const std::vector<Finding>& findings);

}  // namespace peerpath::check
