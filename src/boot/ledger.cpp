// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/ledger.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace peerpath::boot {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view schema = "peerpath.ledger";
constexpr int schema_version = 1;

/// A text of any bytes. JSON holds UTF-8 only, file systems don't: what isn't becomes
/// {"hex": "..."}.
Json to_json(const std::string& text) {
  if (is_utf8(text)) return text;
  std::string digits;
  for (const unsigned char byte : text)
    digits += fmt::format("{:02x}", byte);
  return {{"hex", digits}};
}

Json to_json(const std::vector<std::string>& texts) {
  auto json = Json::array();
  for (const auto& text : texts)
    json.push_back(to_json(text));
  return json;
}

std::string text_from(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  const auto digits = json.at("hex").get<std::string>();
  std::string text;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    text += static_cast<char>(parse_number(digits.substr(i, 2), 16).value_or(0));
  return text;
}

std::vector<std::string> texts_from(const Json& json) {
  std::vector<std::string> texts;
  for (const auto& text : json)
    texts.push_back(text_from(text));
  return texts;
}

Json to_json(const timespec& time) {
  return Json::array({time.tv_sec, time.tv_nsec});
}

timespec time_from(const Json& json) {
  return {json.at(0).get<time_t>(), json.at(1).get<long>()};
}

Json to_json(const Ledger& ledger) {
  Json json;
  json["schema"] = schema;
  json["schema_version"] = schema_version;
  json["boot_loaders"] = ledger.boot_loaders;
  json["files"] = Json::array();
  for (const auto& file : ledger.files) {
    json["files"].push_back({{"path", to_json(file.path)}, {"content", to_json(file.content)}});
  }
  json["edits"] = Json::array();
  for (const auto& edit : ledger.edits) {
    Json entry{
        {"path", to_json(edit.path)}, {"offset", edit.offset}, {"inserted", to_json(edit.inserted)},
        {"size", edit.size},          {"digest", edit.digest}, {"before", to_json(edit.before)}};
    if (edit.after) entry["after"] = to_json(*edit.after);
    json["edits"].push_back(std::move(entry));
  }
  json["theirs"] = to_json(ledger.theirs);
  json["artefacts"] = Json::array();
  for (const auto& artefact : ledger.artefacts) {
    json["artefacts"].push_back({{"path", to_json(artefact.path)},
                                 {"size", artefact.size},
                                 {"digest", artefact.digest},
                                 {"mtime", to_json(artefact.mtime)}});
  }
  json["directories"] = Json::array();
  for (const auto& directory : ledger.directories) {
    Json entry{{"path", to_json(directory.path)}, {"before", to_json(directory.before)}};
    if (directory.after) entry["after"] = to_json(*directory.after);
    json["directories"].push_back(std::move(entry));
  }
  json["created"] = to_json(ledger.created);
  json["tools"] = Json::array();
  for (const auto& tool : ledger.tools) {
    json["tools"].push_back({{"name", tool.name}, {"done", tool.done}});
  }
  return json;
}

Ledger ledger_from(const Json& json) {
  Ledger ledger;
  ledger.boot_loaders = json.at("boot_loaders").get<std::vector<std::string>>();
  for (const auto& file : json.at("files")) {
    ledger.files.push_back({text_from(file.at("path")), text_from(file.at("content"))});
  }
  for (const auto& edit : json.at("edits")) {
    Ledger::Edit entry{text_from(edit.at("path")),
                       edit.at("offset").get<std::size_t>(),
                       text_from(edit.at("inserted")),
                       edit.at("size").get<std::uint64_t>(),
                       edit.at("digest").get<std::uint64_t>(),
                       time_from(edit.at("before"))};
    if (edit.contains("after")) entry.after = time_from(edit.at("after"));
    ledger.edits.push_back(std::move(entry));
  }
  ledger.theirs = texts_from(json.at("theirs"));
  for (const auto& artefact : json.at("artefacts")) {
    ledger.artefacts.push_back(
        {text_from(artefact.at("path")), artefact.at("size").get<std::uint64_t>(),
         artefact.at("digest").get<std::uint64_t>(), time_from(artefact.at("mtime"))});
  }
  for (const auto& directory : json.at("directories")) {
    Ledger::Directory entry{text_from(directory.at("path")), time_from(directory.at("before"))};
    if (directory.contains("after")) entry.after = time_from(directory.at("after"));
    ledger.directories.push_back(std::move(entry));
  }
  ledger.created = texts_from(json.at("created"));
  for (const auto& tool : json.at("tools")) {
    ledger.tools.push_back({tool.at("name").get<std::string>(), tool.at("done").get<bool>()});
  }
  return ledger;
}

}  // namespace

bool Ledger::asked(std::string_view tool) const {
  return std::ranges::any_of(tools, [&](const Tool& known) { return known.name == tool; });
}

bool Ledger::done(std::string_view tool) const {
  return std::ranges::any_of(tools,
                             [&](const Tool& known) { return known.name == tool && known.done; });
}

std::uint64_t digest_of(std::string_view content) {
  std::uint64_t digest = 0xcbf29ce484222325U;
  for (const char c : content) {
    digest ^= static_cast<unsigned char>(c);
    digest *= 0x100000001b3U;
  }
  return digest;
}

bool is_open(const Ledger& ledger) {
  const auto open = [](const auto& item) { return !item.after; };
  return std::ranges::any_of(ledger.directories, open) || std::ranges::any_of(ledger.edits, open);
}

Result<std::optional<Ledger>> load_ledger(const System& system) {
  const auto text = system.read(ledger_path);
  if (!text) {
    if (text.error().code == Errc::not_found && !system.link_info(ledger_path)) {
      return std::optional<Ledger>{};
    }
    return fail(text.error());
  }
  try {
    bool whole_numbers = true;
    const auto json = Json::parse(*text, [&](int, Json::parse_event_t, const Json& parsed) {
      whole_numbers = whole_numbers && !parsed.is_number_float();
      return true;
    });
    if (!whole_numbers) {
      return fail(Errc::malformed,
                  fmt::format("'{}': a number in it isn't whole", system.shown(ledger_path)));
    }
    if (json.at("schema") != schema || json.at("schema_version") != schema_version) {
      return fail(Errc::malformed, fmt::format("'{}': not a ledger of this version of peerpath",
                                               system.shown(ledger_path)));
    }
    return std::optional(ledger_from(json));
  } catch (const Json::exception& error) {
    return fail(Errc::malformed,
                fmt::format("'{}': {}", system.shown(ledger_path), without_tag(error.what())));
  }
}

Result<> save_ledger(const System& system, const Ledger& ledger) {
  const auto text = to_json(ledger).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  return system.write(ledger_path, text, 0600);
}

}  // namespace peerpath::boot
