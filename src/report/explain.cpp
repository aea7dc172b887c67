// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/explain.hpp"

#include "base/version.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace peerpath::report {

namespace {

/// How many letters must be put in, taken out or changed (Levenshtein's distance).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> near_ids(std::string_view typed) {
  constexpr std::size_t longest = 64;
  constexpr std::size_t most = 3;
  if (typed.empty() || typed.size() > longest) return {};
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const auto* record : check::all_records()) {
    const bool is_part = record->id.find(typed) != std::string_view::npos;
    const auto letters = is_part ? 0 : distance(typed, record->id);
    if (letters <= record->id.size() / 4) near.emplace_back(letters, record->id);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> ids;
  for (const auto& [letters, id] : near) {
    if (ids.size() < most) ids.push_back(id);
  }
  return ids;
}

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
