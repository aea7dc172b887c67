// SPDX-License-Identifier: GPL-2.0-or-later
// How reports that were written earlier are read back: every value with its place, for errors.
#pragma once

#include "base/result.hpp"
#include "check/finding.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::report {

/// Not the one that keeps the order of members: that one takes time with the square of their
/// number, and the file may be anything.
using ReadJson = nlohmann::json;

/// Says what is wrong with the document. Ends in parse_report, never outside of this room.
struct Flaw {
  Errc code = Errc::malformed;
  std::string text;
};

/// Throws a Flaw.
[[noreturn]] void flaw(const std::string& place, std::string_view what);

/// A value and where it is in the document: "findings[2].status". What isn't as it's asked for is
/// a Flaw.
struct JsonNode {
  const ReadJson& json;
  std::string place;

  [[nodiscard]] std::string inner(std::string_view key) const;
  [[nodiscard]] bool has(const char* key) const { return json.contains(key); }
  [[nodiscard]] JsonNode at(const char* key) const;
  [[nodiscard]] std::vector<JsonNode> elements() const;
  [[nodiscard]] std::string string() const;
  [[nodiscard]] std::vector<std::string> strings() const;
  [[nodiscard]] std::optional<std::string> string_or_null() const;
  /// An integer from 0 to `highest`.
  [[nodiscard]] int number(int highest) const;
  /// An integer from 0 up.
  [[nodiscard]] std::uint64_t large_number() const;
  [[nodiscard]] bool boolean() const;
  /// From 0 up.
  [[nodiscard]] double real() const;
  [[nodiscard]] std::optional<double> real_or_null() const;
  [[nodiscard]] check::Status status() const;
  [[nodiscard]] std::int64_t time() const;
  /// A name that the function knows.
  template <class Value>
  [[nodiscard]] Value named(std::optional<Value> (*find)(std::string_view)) const {
    const auto found = find(string());
    if (!found) unknown_name();
    return *found;
  }

 private:
  [[noreturn]] void unknown_name() const;
};

}  // namespace peerpath::report
