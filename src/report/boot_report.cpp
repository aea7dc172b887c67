// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/boot_report.hpp"

#include "base/text.hpp"
#include "base/version.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace peerpath::report {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::array<std::string, 5>;

std::string mode_of(const boot::JudgedEntry& entry) {
  return entry.mode ? std::string(cmdline::name_of(*entry.mode)) : "unknown";
}

std::string deciding_word(const boot::JudgedEntry& entry) {
  return entry.judgement.decided_by ? entry.judgement.decided_by->text : "";
}

Row row_of(const boot::JudgedEntry& judged) {
  const auto& entry = judged.entry;
  const auto word = deciding_word(judged);
  return {printable(entry.version.empty() ? entry.kernel : entry.version), mode_of(judged),
          word.empty() ? "-" : printable(word), printable(entry.place()), printable(entry.title)};
}

std::string paint(std::string_view text, bool good, bool colour) {
  if (!colour) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", good ? "32" : "31", text);
}

std::string table(const std::vector<boot::JudgedEntry>& entries, bool colour) {
  std::vector<Row> rows{{"KERNEL", "MODE", "DECIDED BY", "WHERE", "ENTRY"}};
  for (const auto& entry : entries)
    rows.push_back(row_of(entry));
  std::array<std::size_t, 5> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      const bool last = i + 1 == rows[r].size();
      const auto cell = last ? rows[r][i] : fmt::format("{:<{}}  ", rows[r][i], widths[i]);
      const bool is_mode = r > 0 && i == 1;
      text += is_mode ? paint(cell, entries[r - 1].untranslated(), colour) : cell;
    }
    text += '\n';
  }
  return text;
}

std::string_view verb_of(const boot::Change& change, bool dry_run) {
  if (change.action == "write") return dry_run ? "would write" : "wrote";
  if (change.action == "edit") return dry_run ? "would edit" : "edited";
  if (change.action == "remove") return dry_run ? "would remove" : "removed";
  if (change.action == "update") return dry_run ? "would update" : "updated";
  return dry_run ? "would generate" : "generated";
}

Json entry_json(const boot::JudgedEntry& judged) {
  const auto& entry = judged.entry;
  Json json;
  json["title"] = entry.title;
  json["kernel"] = entry.kernel;
  json["kernel_version"] = entry.version;
  json["kernel_present"] = entry.kernel_present;
  json["mode"] = mode_of(judged);
  json["token"] = deciding_word(judged);
  json["ignored"] = Json::array();
  for (const auto& ignored : judged.judgement.ignored) {
    json["ignored"].push_back({{"token", ignored.word.text}, {"reason", ignored.reason}});
  }
  json["file"] = entry.file;
  json["line"] = entry.line;
  json["command_lines"] = entry.command_lines;
  return json;
}

}  // namespace

std::string boot_text(const boot::Outcome& outcome, bool colour) {
  std::string text;
  if (!outcome.entries.empty()) text += table(outcome.entries, colour);
  for (const auto& change : outcome.changes) {
    text += fmt::format("{} {}\n", verb_of(change, outcome.dry_run), printable(change.path));
  }
  for (const auto& message : outcome.messages)
    text += printable(message) + "\n";
  const bool deferred = outcome.result == "deferred";
  const bool good = outcome.status == ExitStatus::good && !deferred;
  text += fmt::format("{}: {}", outcome.command, paint(outcome.result, good, colour));
  if (deferred) {
    text += outcome.command == "revert" ? ": still in force until that has run"
                                        : ": not in force until that has run";
  }
  if (outcome.reboot_required) {
    // Only what is known to be passthrough at the next boot is armed.
    const bool armed = good && outcome.command == "ensure";
    text += fmt::format(", {}reboot to put it in force", armed ? "armed, not booted: " : "");
  }
  return text + "\n";
}

std::string boot_json(const boot::Outcome& outcome) {
  Json json;
  json["schema"] = "peerpath.boot";
  json["schema_version"] = 1;
  json["version"] = version();
  json["command"] = outcome.command;
  json["root"] = outcome.root;
  json["boot_loader"] = outcome.boot_loader;
  json["result"] = outcome.result;
  json["exit_status"] = static_cast<int>(outcome.status);
  json["dry_run"] = outcome.dry_run;
  json["changed"] = outcome.changed;
  json["reboot_required"] = outcome.reboot_required;
  json["deferred"] = outcome.deferred.has_value();
  if (outcome.conflict) {
    json["conflict"] = {{"token", outcome.conflict->word},
                        {"file", outcome.conflict->file},
                        {"line", outcome.conflict->line}};
  }
  json["entries"] = Json::array();
  for (const auto& entry : outcome.entries)
    json["entries"].push_back(entry_json(entry));
  json["changes"] = Json::array();
  for (const auto& change : outcome.changes) {
    json["changes"].push_back({{"path", change.path}, {"action", change.action}});
  }
  json["messages"] = outcome.messages;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace peerpath::report
