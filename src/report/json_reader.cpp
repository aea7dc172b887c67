// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json_reader.hpp"

#include "base/text.hpp"
#include "report/status.hpp"
#include "report/timestamp.hpp"

#include <fmt/format.h>

namespace peerpath::report {

void flaw(const std::string& place, std::string_view what) {
  throw Flaw{Errc::malformed, printable(place) + " " + std::string(what)};
}

std::string JsonNode::inner(std::string_view key) const {
  return place.empty() ? std::string(key) : fmt::format("{}.{}", place, key);
}

JsonNode JsonNode::at(const char* key) const {
  if (!json.is_object()) flaw(place.empty() ? "the document" : place, "is not an object");
  const auto found = json.find(key);
  if (found == json.end()) flaw(inner(key), "is missing");
  return {*found, inner(key)};
}

std::vector<JsonNode> JsonNode::elements() const {
  if (!json.is_array()) flaw(place, "is not an array");
  std::vector<JsonNode> nodes;
  for (const auto& element : json)
    nodes.push_back({element, fmt::format("{}[{}]", place, nodes.size())});
  return nodes;
}

std::string JsonNode::string() const {
  if (!json.is_string()) flaw(place, "is not a string");
  return json.get<std::string>();
}

std::vector<std::string> JsonNode::strings() const {
  std::vector<std::string> found;
  for (const auto& element : elements())
    found.push_back(element.string());
  return found;
}

std::optional<std::string> JsonNode::string_or_null() const {
  if (json.is_null()) return std::nullopt;
  return string();
}

int JsonNode::number(int highest) const {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > static_cast<unsigned>(highest)) {
    flaw(place, fmt::format("is not an integer from 0 to {}", highest));
  }
  return json.get<int>();
}

std::uint64_t JsonNode::large_number() const {
  if (!json.is_number_unsigned()) flaw(place, "is not an integer from 0 up");
  return json.get<std::uint64_t>();
}

bool JsonNode::boolean() const {
  if (!json.is_boolean()) flaw(place, "is not true or false");
  return json.get<bool>();
}

double JsonNode::real() const {
  if (!json.is_number() || json.get<double>() < 0) flaw(place, "is not a number from 0 up");
  return json.get<double>();
}

std::optional<double> JsonNode::real_or_null() const {
  if (json.is_null()) return std::nullopt;
  return real();
}

check::Status JsonNode::status() const {
  const auto found = status_of(string());
  if (!found) flaw(place, fmt::format("is '{}', which is no status", printable(string())));
  return *found;
}

std::int64_t JsonNode::time() const {
  const auto found = parse_time(string());
  if (!found) flaw(place, "is not a time like 2026-08-01T12:00:00Z");
  return *found;
}

void JsonNode::unknown_name() const {
  flaw(place, fmt::format("is '{}', which this peerpath doesn't know", printable(string())));
}

}  // namespace peerpath::report
