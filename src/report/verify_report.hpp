// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "check/finding.hpp"
#include "report/topology.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::report {

struct Selftest;

/// What `verify` and `boot-check` hand out: the findings and what they speak of.
struct VerifyReport {
  enum class Kind { verify, boot_check };

  Kind kind = Kind::verify;
  std::string version;    ///< of the peerpath that made it
  std::int64_t time = 0;  ///< seconds since 1970, UTC
  // The kernel that was looked at; nothing where it could not be read.
  std::optional<std::string> release;
  std::optional<std::string> machine;
  std::optional<std::string> boot_id;
  std::optional<std::string> command_line;
  Topology topology;  ///< empty where it could not be read
  std::vector<check::Finding> findings;
  check::Status verdict = check::Status::unknown;
  int exit_status = 0;
  std::string note;  ///< what the report doesn't cover; may be empty
  /// Of `boot-check`, where it ran one. Shared, for reports are copied and these are large.
  std::shared_ptr<const Selftest> selftest = {};
};

/// The `schema` member of the JSON document: "peerpath.verify" or "peerpath.report".
[[nodiscard]] std::string_view schema_of(VerifyReport::Kind kind);

/// A JSON document, described by schema/verify.schema.json and schema/report.schema.json. Bytes
/// that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string to_json(const VerifyReport& report);

/// Reads what `to_json` wrote. `name` is the file's, for errors.
/// Errors: malformed, saying what is wrong and where; unsupported for a newer schema version.
[[nodiscard]] Result<VerifyReport> parse_report(std::string_view json, std::string_view name);

struct TextStyle {
  bool colour = false;     ///< by ECMA-48 sequences
  bool unicode = false;    ///< the tree's lines; or else in ASCII
  bool verbose = false;    ///< all findings in full, those too that say nothing bad
  std::size_t width = 80;  ///< columns to fill
};

/// For a person: the verdict, the tree, the findings, the worst first; those with the same cause
/// and remedy together. Ones that are ok or not applicable have a line each.
[[nodiscard]] std::string to_text(const VerifyReport& report, const TextStyle& style = {});

}  // namespace peerpath::report
