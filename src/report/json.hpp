// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace peerpath::report {

/// Keeps members in the order of writing.
using Json = nlohmann::ordered_json;

/// The beginning of every document: `schema`, `schema_version`, `version`.
[[nodiscard]] Json document(std::string_view schema, std::string_view version);

template <class Value>
[[nodiscard]] Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// The document as text, indented, with a line end. Never throws on bytes that are not UTF-8:
/// they become U+FFFD.
[[nodiscard]] std::string dump(const Json& json);

}  // namespace peerpath::report
