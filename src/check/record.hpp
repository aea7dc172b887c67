// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/finding.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace peerpath::check {

struct Facts;

/// What a finding's id means: the one place that `explain`, the man page and the journal
/// catalog are made from or tested against.
struct Record {
  std::string_view id;          ///< area.subject; never reused
  std::string_view title;       ///< a few words
  std::string_view message_id;  ///< 128-bit journal MESSAGE_ID, 32 hex digits; never changed
  std::string_view meaning;     ///< what is looked at and why it matters
  std::string_view causes;      ///< what makes it fail
  std::string_view remedy;      ///< how to mend it
  std::string_view since;       ///< the version that introduced it
};

/// A check: its record and a pure function over facts.
struct Check {
  Record record;
  std::vector<Finding> (*run)(const Facts& facts);
};

/// Every check, in the order of the report. To add one, write its file and list it here.
[[nodiscard]] std::span<const Check* const> all_checks();

/// Every id that a finding can have: those of the checks, and those of the self-test.
[[nodiscard]] std::vector<const Record*> all_records();

}  // namespace peerpath::check
