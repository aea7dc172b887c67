// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "report/status.hpp"
#include "report/timestamp.hpp"
#include "report/verify_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace peerpath::report {
namespace {

/// Not the one that keeps the order of members: that one takes time with the square of their
/// number, and the file may be anything.
using Json = nlohmann::json;

/// Says what is wrong with the document. Ends in parse_report, never outside of this file.
struct Flaw {
  Errc code = Errc::malformed;
  std::string text;
};

[[noreturn]] void flaw(const std::string& place, std::string_view what) {
  throw Flaw{Errc::malformed, printable(place) + " " + std::string(what)};
}

/// A value and where it is in the document: "findings[2].status".
struct Node {
  const Json& json;
  std::string place;

  [[nodiscard]] std::string inner(std::string_view key) const {
    return place.empty() ? std::string(key) : fmt::format("{}.{}", place, key);
  }
  [[nodiscard]] bool has(const char* key) const { return json.contains(key); }
  [[nodiscard]] Node at(const char* key) const {
    if (!json.is_object()) flaw(place.empty() ? "the document" : place, "is not an object");
    const auto found = json.find(key);
    if (found == json.end()) flaw(inner(key), "is missing");
    return {*found, inner(key)};
  }
  [[nodiscard]] std::vector<Node> elements() const {
    if (!json.is_array()) flaw(place, "is not an array");
    std::vector<Node> nodes;
    for (const auto& element : json)
      nodes.push_back({element, fmt::format("{}[{}]", place, nodes.size())});
    return nodes;
  }
  [[nodiscard]] std::string string() const {
    if (!json.is_string()) flaw(place, "is not a string");
    return json.get<std::string>();
  }
  [[nodiscard]] std::optional<std::string> string_or_null() const {
    if (json.is_null()) return std::nullopt;
    return string();
  }
  /// An integer from 0 to `highest`.
  [[nodiscard]] int number(int highest) const {
    if (!json.is_number_unsigned() || json.get<std::uint64_t>() > static_cast<unsigned>(highest)) {
      flaw(place, fmt::format("is not an integer from 0 to {}", highest));
    }
    return json.get<int>();
  }
  [[nodiscard]] check::Status status() const {
    const auto found = status_of(string());
    if (!found) flaw(place, fmt::format("is '{}', which is no status", printable(string())));
    return *found;
  }
  [[nodiscard]] std::int64_t time() const {
    const auto found = parse_time(string());
    if (!found) flaw(place, "is not a time like 2026-08-01T12:00:00Z");
    return *found;
  }
};

Json parsed(std::string_view text) {
  if (trim(text).empty()) throw Flaw{Errc::malformed, "is empty"};
  if (text.find('\0') != std::string_view::npos) {
    throw Flaw{Errc::malformed, "holds binary data, not JSON"};
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    // The library counts from 1 and points one past the end where the text stops too early.
    throw Flaw{Errc::malformed, error.byte > text.size()
                                    ? std::string("is cut short: the JSON ends too early")
                                    : fmt::format("is not JSON, from byte {} on", error.byte)};
  } catch (const Json::exception&) {
    throw Flaw{Errc::malformed, "holds a number that is out of range"};
  }
}

VerifyReport::Kind read_kind(const Node& root) {
  const auto schema = root.at("schema").string();
  for (const auto kind : {VerifyReport::Kind::verify, VerifyReport::Kind::boot_check}) {
    if (schema == schema_of(kind)) return kind;
  }
  flaw("schema", fmt::format("is '{}', which is no report of peerpath's", printable(schema)));
}

void check_schema_version(const Node& root) {
  const auto node = root.at("schema_version");
  if (node.json == 1) return;
  throw Flaw{Errc::unsupported,
             fmt::format("has schema_version {}, and this peerpath reads 1",
                         node.json.dump(-1, ' ', true, Json::error_handler_t::replace))};
}

check::Evidence read_evidence(const Node& node) {
  return {node.at("source").string(), node.at("observed").string(), node.at("expected").string()};
}

check::Finding read_finding(const Node& node) {
  check::Finding finding;
  finding.id = node.at("id").string();
  finding.status = node.at("status").status();
  if (node.has("device")) finding.device = node.at("device").string();
  for (const auto& evidence : node.at("evidence").elements())
    finding.evidence.push_back(read_evidence(evidence));
  finding.cause = node.at("cause").string();
  finding.remedy = node.at("remedy").string();
  return finding;
}

VerifyReport read_report(const Node& root) {
  VerifyReport report;
  report.kind = read_kind(root);
  check_schema_version(root);
  report.version = root.at("version").string();
  report.verdict = root.at("verdict").status();
  report.exit_status = root.at("exit_status").number(255);
  report.time = root.at("time").time();
  const auto kernel = root.at("kernel");
  report.release = kernel.at("release").string_or_null();
  report.machine = kernel.at("machine").string_or_null();
  report.boot_id = kernel.at("boot_id").string_or_null();
  report.command_line = kernel.at("command_line").string_or_null();
  for (const auto& finding : root.at("findings").elements())
    report.findings.push_back(read_finding(finding));
  if (root.has("note")) report.note = root.at("note").string();
  return report;
}

}  // namespace

Result<VerifyReport> parse_report(std::string_view json, std::string_view name) {
  try {
    const auto document = parsed(json);
    return read_report({document, ""});
  } catch (const Flaw& found) {
    return fail(found.code, fmt::format("'{}': {}", printable(name), found.text));
  }
}

}  // namespace peerpath::report
