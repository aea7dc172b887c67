// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/record.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace peerpath::report {

using Records = std::vector<const check::Record*>;

/// The record of an id; nullptr where there is none.
[[nodiscard]] const check::Record* find_record(std::string_view id);

/// The ids that somebody who typed this may have meant: those that have it as a part, or else those
/// that differ in a few letters. At most three.
[[nodiscard]] std::vector<std::string> near_ids(std::string_view typed);

/// The record's title; the id itself where an older or newer peerpath's report has one that we
/// don't know.
[[nodiscard]] std::string title_of(std::string_view id);

/// What an id means, what makes it fail and how to mend it, for a person.
[[nodiscard]] std::string explain_text(const check::Record& record, std::size_t width = 80);

/// All ids with their titles, one a line.
[[nodiscard]] std::string list_text(const Records& records);

/// A JSON document of one record or of many, described by schema/explain.schema.json.
[[nodiscard]] std::string explain_json(const Records& records);

}  // namespace peerpath::report
