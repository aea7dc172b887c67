// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/explain.hpp"
#include "report/json.hpp"
#include "report/selftest_member.hpp"
#include "report/timestamp.hpp"
#include "report/verify_report.hpp"

#include <algorithm>

namespace peerpath::report {
namespace {

Json json_of(const check::Finding& finding) {
  Json json;
  json["id"] = finding.id;
  json["title"] = title_of(finding.id);
  json["status"] = name_of(finding.status);
  if (finding.device) json["device"] = *finding.device;
  if (finding.peer) json["peer"] = *finding.peer;
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

Json json_of(const TopologyNode::Iommu& iommu) {
  const auto* const mode = std::find_if(iommu_modes.begin(), iommu_modes.end(),
                                        [&](const auto& m) { return m.first == iommu.mode; });
  return {{"mode", mode->second}, {"detail", iommu.detail}};
}

Json json_of(const TopologyNode::Acs& acs) {
  return {{"known", acs.known}, {"redirects", acs.redirects}, {"detail", acs.detail}};
}

Json json_of(const TopologyNode::Link& link) {
  return {{"speed", link.speed},
          {"width", link.width},
          {"max_speed", link.max_speed},
          {"max_width", link.max_width}};
}

Json json_of(const TopologyNode& node) {
  Json json;
  json["bdf"] = node.bdf;
  json["host_bridge"] = node.host_bridge;
  json["parent"] = or_null(node.parent);
  json["kind"] = node.kind;
  json["name"] = node.name;
  json["numa_node"] = node.numa_node ? Json(*node.numa_node) : Json(nullptr);
  json["iommu"] = node.iommu ? json_of(*node.iommu) : Json(nullptr);
  json["acs"] = node.acs ? json_of(*node.acs) : Json(nullptr);
  json["link"] = node.link ? json_of(*node.link) : Json(nullptr);
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
  json["topology"] = Json::array();
  for (const auto& node : report.topology)
    json["topology"].push_back(json_of(node));
  json["findings"] = Json::array();
  for (const auto& finding : report.findings)
    json["findings"].push_back(json_of(finding));
  if (report.selftest) json["selftest"] = selftest_member(*report.selftest, Results::bad_ones);
  if (!report.note.empty()) json["note"] = report.note;
  return dump(json);
}

}  // namespace peerpath::report
