// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/explain.hpp"
#include "report/json.hpp"
#include "report/timestamp.hpp"
#include "report/verify_report.hpp"

namespace peerpath::report {
namespace {

Json or_null(const std::optional<std::string>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const check::Finding& finding) {
  Json json;
  json["id"] = finding.id;
  json["title"] = title_of(finding.id);
  json["status"] = name_of(finding.status);
  if (finding.device) json["device"] = *finding.device;
  json["evidence"] = Json::array();
  for (const auto& evidence : finding.evidence) {
    json["evidence"].push_back({{"source", evidence.source},
                                {"observed", evidence.observed},
                                {"expected", evidence.expected}});
  }
  json["cause"] = finding.cause;
  json["remedy"] = finding.remedy;
  return json;
}

}  // namespace

std::string_view schema_of(VerifyReport::Kind kind) {
  return kind == VerifyReport::Kind::verify ? "peerpath.verify" : "peerpath.report";
}

std::string to_json(const VerifyReport& report) {
  auto json = document(schema_of(report.kind), report.version);
  json["verdict"] = name_of(report.verdict);
  json["exit_status"] = report.exit_status;
  json["time"] = format_time(report.time);
  json["kernel"] = {{"release", or_null(report.release)},
                    {"machine", or_null(report.machine)},
                    {"boot_id", or_null(report.boot_id)},
                    {"command_line", or_null(report.command_line)}};
  json["findings"] = Json::array();
  for (const auto& finding : report.findings)
    json["findings"].push_back(json_of(finding));
  if (!report.note.empty()) json["note"] = report.note;
  return dump(json);
}

}  // namespace peerpath::report
