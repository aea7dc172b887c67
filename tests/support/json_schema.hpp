// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

/// Checks a document against the JSON Schemas that we ship. Knows the keywords that they use, of
/// draft 2020-12, and throws on any other, so that none is passed over.
class JsonSchema {
 public:
  using Json = nlohmann::json;

  /// src/report/schema/NAME.schema.json.
  static JsonSchema shipped(const std::string& name) {
    const std::string path =
        std::string(PEERPATH_TESTS_DIR) + "/../src/report/schema/" + name + ".schema.json";
    std::ifstream file(path);
    if (!file) throw std::runtime_error("can't read " + path);
    return JsonSchema(Json::parse(file));
  }
  explicit JsonSchema(Json schema) : root_(std::move(schema)) {}

  [[nodiscard]] const Json& json() const { return root_; }

  /// What is wrong, with its place in the document; empty where nothing is.
  [[nodiscard]] std::vector<std::string> flaws(const Json& document) const {
    std::vector<std::string> found;
    check(root_, document, "", found);
    return found;
  }

 private:
  using Flaws = std::vector<std::string>;

  static bool is_type(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    if (type == "boolean") return value.is_boolean();
    if (type == "null") return value.is_null();
    throw std::runtime_error("unknown type in schema: " + type);
  }

  static bool is_one_of(const Json& value, const Json& types) {
    if (types.is_string()) return is_type(value, types);
    for (const auto& type : types) {
      if (is_type(value, type)) return true;
    }
    return false;
  }

  void check(const Json& schema, const Json& value, const std::string& place, Flaws& found) const {
    const auto wrong = [&](const std::string& what) { found.push_back(place + ": " + what); };
    for (const auto& [keyword, rule] : schema.items()) {
      if (keyword == "type") {
        if (!is_one_of(value, rule)) wrong("is not of type " + rule.dump());
      } else if (keyword == "const") {
        if (value != rule) wrong("is not " + rule.dump());
      } else if (keyword == "enum") {
        if (std::find(rule.begin(), rule.end(), value) == rule.end()) wrong("not in the enum");
      } else if (keyword == "minimum") {
        if (value.is_number() && value < rule) wrong("is too small");
      } else if (keyword == "maximum") {
        if (value.is_number() && value > rule) wrong("is too large");
      } else if (keyword == "pattern") {
        if (value.is_string() &&
            !std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>()))) {
          wrong("doesn't match " + rule.dump());
        }
      } else if (keyword == "required") {
        for (const auto& name : rule) {
          if (value.is_object() && !value.contains(name)) wrong("lacks " + name.dump());
        }
      } else if (keyword == "properties") {
        check_members(schema, value, place, found);
      } else if (keyword == "items") {
        for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
          check(rule, value[i], place + "/" + std::to_string(i), found);
      } else if (keyword == "$ref") {
        check(root_.at(Json::json_pointer(rule.get<std::string>().substr(1))), value, place, found);
      } else if (!std::set<std::string>{"$schema", "$defs", "title", "description",
                                        "additionalProperties"}
                      .contains(keyword)) {
        throw std::runtime_error("unknown keyword in schema: " + keyword);
      }
    }
  }

  void check_members(const Json& schema, const Json& value, const std::string& place,
                     Flaws& found) const {
    if (!value.is_object()) return;
    const auto& properties = schema.at("properties");
    const bool closed = schema.value("additionalProperties", true) == false;
    for (const auto& [name, member] : value.items()) {
      if (properties.contains(name)) {
        check(properties.at(name), member, place + "/" + name, found);
      } else if (closed) {
        found.push_back(place + ": has '" + name + "', which the schema doesn't know");
      }
    }
  }

  Json root_;
};
