// SPDX-License-Identifier: GPL-2.0-or-later
#include "support/catch.hpp"
#include "support/json_schema.hpp"

using nlohmann::json;

namespace {

std::size_t flaws(const char* schema, const char* document) {
  return JsonSchema(json::parse(schema)).flaws(json::parse(document)).size();
}

}  // namespace

TEST_CASE("JsonSchema: each keyword → takes what fits and finds what doesn't") {
  CHECK(flaws(R"({"type": "string"})", "\"a\"") == 0);
  CHECK(flaws(R"({"type": "string"})", "1") == 1);
  CHECK(flaws(R"({"type": ["string", "null"]})", "null") == 0);
  CHECK(flaws(R"({"type": ["string", "null"]})", "true") == 1);
  CHECK(flaws(R"({"type": "integer", "minimum": 0, "maximum": 9})", "9") == 0);
  CHECK(flaws(R"({"type": "integer", "minimum": 0, "maximum": 9})", "10") == 1);
  CHECK(flaws(R"({"type": "number"})", "0.5") == 0);
  CHECK(flaws(R"({"type": "number"})", "\"a\"") == 1);
  CHECK(flaws(R"({"minimum": 0})", "-1") == 1);
  CHECK(flaws(R"({"const": 1})", "2") == 1);
  CHECK(flaws(R"({"enum": ["a", "b"]})", "\"b\"") == 0);
  CHECK(flaws(R"({"enum": ["a", "b"]})", "\"c\"") == 1);
  CHECK(flaws(R"({"pattern": "^a$"})", "\"ab\"") == 1);
  CHECK(flaws(R"({"required": ["a"]})", "{}") == 1);
  CHECK(flaws(R"({"properties": {"a": {"type": "string"}}})", R"({"a": 1})") == 1);
  CHECK(flaws(R"({"properties": {}})", R"({"a": 1})") == 0);
  CHECK(flaws(R"({"properties": {}, "additionalProperties": false})", R"({"a": 1})") == 1);
  CHECK(flaws(R"({"items": {"type": "string"}})", R"(["a", 1, 2])") == 2);
  CHECK(flaws(R"({"items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"const": 1}}})", "[1, 2]") == 1);
}

TEST_CASE("JsonSchema: a keyword that it doesn't know → throws") {
  CHECK_THROWS(flaws(R"({"oneOf": []})", "1"));
}

TEST_CASE("JsonSchema: every schema that is shipped → has known keywords only") {
  for (const char* name : {"verify", "report", "boot", "explain", "error", "selftest"}) {
    INFO(name);
    const auto schema = JsonSchema::shipped(name);
    CHECK(schema.json().at("$schema") == "https://json-schema.org/draft/2020-12/schema");
    CHECK_FALSE(schema.flaws(json::object()).empty());
    const json empty_entry = json::parse(R"({"findings": [{"evidence": [{}]}], "kernel": {},
        "topology": [{"iommu": {}, "acs": {"redirects": [""]}, "link": {}}], "entries": [{}], "changes": [{}], "records": [{}],
        "selftest": {"gpus": [{}], "pairs": [{"results": [{}]}]}, "gpus": [{}], "pairs": [{"results": [{}]}]})");
    CHECK_FALSE(schema.flaws(empty_entry).empty());
  }
}
