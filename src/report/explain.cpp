// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/explain.hpp"

#include "base/version.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::report {

const check::Record* find_record(std::string_view id) {
  for (const auto* record : check::all_records()) {
    if (record->id == id) return record;
  }
  return nullptr;
}

std::string title_of(std::string_view id) {
  const auto* record = find_record(id);
  return std::string(record == nullptr ? id : record->title);
}

std::string explain_text(const check::Record& record, std::size_t width) {
  auto text = fmt::format("{}: {}\n", record.id, record.title);
  const auto add = [&](std::string_view heading, std::string_view body) {
    text += fmt::format("\n{}\n", heading);
    text += wrapped(body, width, "  ", "  ");
  };
  add("What it looks at", record.meaning);
  add("What makes it fail", record.causes);
  add("How to mend it", record.remedy);
  text += fmt::format("\nIn the journal: journalctl -b MESSAGE_ID={}\nSince version {}\n",
                      record.message_id, record.since);
  return text;
}

std::string list_text(const Records& records) {
  std::size_t widest = 0;
  for (const auto* record : records)
    widest = std::max(widest, record->id.size());
  std::string text;
  for (const auto* record : records)
    text += fmt::format("{:<{}}  {}\n", record->id, widest, record->title);
  return text;
}

std::string explain_json(const Records& records) {
  auto json = document("peerpath.explain", version());
  json["records"] = Json::array();
  for (const auto* record : records) {
    json["records"].push_back({{"id", record->id},
                               {"title", record->title},
                               {"message_id", record->message_id},
                               {"meaning", record->meaning},
                               {"causes", record->causes},
                               {"remedy", record->remedy},
                               {"since", record->since}});
  }
  return dump(json);
}

}  // namespace peerpath::report
