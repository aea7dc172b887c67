// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/finding.hpp"

#include <algorithm>
#include <array>

namespace peerpath::check {

std::string_view name_of(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::warn:
      return "warn";
    case Status::fail:
      return "fail";
    case Status::unknown:
      return "unknown";
    case Status::not_applicable:
      return "not-applicable";
  }
  return "unknown";
}

Status verdict(const std::vector<Finding>& findings) {
  constexpr std::array worst_first{Status::fail, Status::unknown, Status::warn, Status::ok};
  for (const auto status : worst_first) {
    const auto has = [&](const Finding& finding) { return finding.status == status; };
    if (std::any_of(findings.begin(), findings.end(), has)) return status;
  }
  return Status::not_applicable;
}

}  // namespace peerpath::check
