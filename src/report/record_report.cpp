// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/record_report.hpp"

#include "base/text.hpp"
#include "report/json.hpp"
#include "report/timestamp.hpp"

#include <fmt/format.h>

namespace peerpath::report {

std::string record_text(const RecordReport& report) {
  auto text = fmt::format("{}: {} files, {} directories, {} links\n", printable(report.file),
                          report.files, report.directories, report.links);
  for (const auto& [path, why] : report.unread)
    text += fmt::format("not read: '{}': {}\n", printable(path), printable(why));
  for (const auto& command : report.commands)
    text += fmt::format("not recorded: what '{}' said\n", printable(join(command, " ")));
  for (const auto& difference : report.differences) {
    text += fmt::format("from the recording, {}{}{} is {} instead of {}\n", difference.finding,
                        difference.device.empty() ? "" : " of ", difference.device,
                        difference.replayed, difference.recorded);
  }
  return text;
}

std::string record_json(const RecordReport& report) {
  auto json = document("peerpath.record", report.version);
  json["exit_status"] = report.exit_status;
  json["time"] = format_time(report.time);
  json["file"] = report.file;
  json["files"] = report.files;
  json["directories"] = report.directories;
  json["links"] = report.links;
  json["unread"] = Json::array();
  for (const auto& [path, why] : report.unread)
    json["unread"].push_back({{"path", path}, {"reason", why}});
  json["commands"] = report.commands;
  json["differences"] = Json::array();
  for (const auto& difference : report.differences) {
    json["differences"].push_back({{"id", difference.finding},
                                   {"device", difference.device},
                                   {"recorded", difference.recorded},
                                   {"replayed", difference.replayed}});
  }
  return dump(json);
}

}  // namespace peerpath::report
