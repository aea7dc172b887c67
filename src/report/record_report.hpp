// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace peerpath::report {

/// A finding that comes out otherwise from the recording than from the machine.
struct ReplayDifference {
  std::string finding;
  std::string device;  ///< empty where it's of no device
  std::string recorded;
  std::string replayed;
};

/// What `peerpath record` did, and what whoever reads the recording needs to know of it.
struct RecordReport {
  std::string version;
  std::int64_t time = 0;
  std::string file;
  std::size_t files = 0;
  std::size_t directories = 0;
  std::size_t links = 0;
  std::map<std::string, std::string> unread;  ///< path → why
  std::vector<std::vector<std::string>> commands;
  std::vector<ReplayDifference> differences;
  int exit_status = 0;
};

[[nodiscard]] std::string record_text(const RecordReport& report);
/// One JSON document, as schema/record.schema.json describes it, with a line end.
[[nodiscard]] std::string record_json(const RecordReport& report);

}  // namespace peerpath::report
