// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "report/json_reader.hpp"
#include "report/selftest_member.hpp"
#include "report/selftest_report.hpp"
#include "report/verify_report.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>

namespace peerpath::report {
namespace {

ReadJson parsed(std::string_view text) {
  if (trim(text).empty()) throw Flaw{Errc::malformed, "is empty"};
  if (text.find('\0') != std::string_view::npos) {
    throw Flaw{Errc::malformed, "holds binary data, not JSON"};
  }
  try {
    return ReadJson::parse(text);
  } catch (const ReadJson::parse_error& error) {
    // The library counts from 1 and points one past the end where the text stops too early.
    throw Flaw{Errc::malformed, error.byte > text.size()
                                    ? std::string("is cut short: the JSON ends too early")
                                    : fmt::format("is not JSON, from byte {} on", error.byte)};
  } catch (const ReadJson::exception&) {
    throw Flaw{Errc::malformed, "holds a number that is out of range"};
  }
}

VerifyReport::Kind read_kind(const JsonNode& root) {
  const auto schema = root.at("schema").string();
  for (const auto kind : {VerifyReport::Kind::verify, VerifyReport::Kind::boot_check}) {
    if (schema == schema_of(kind)) return kind;
  }
  flaw("schema", fmt::format("is '{}', which is no report of peerpath's", printable(schema)));
}

void check_schema_version(const JsonNode& root) {
  const auto node = root.at("schema_version");
  if (node.json == 1) return;
  throw Flaw{Errc::unsupported,
             fmt::format("has schema_version {}, and this peerpath reads 1",
                         node.json.dump(-1, ' ', true, ReadJson::error_handler_t::replace))};
}

TopologyNode::Iommu read_iommu(const JsonNode& node) {
  const auto mode = node.at("mode").string();
  for (const auto& [value, name] : iommu_modes) {
    if (name == mode) return {value, node.at("detail").string()};
  }
  flaw(node.inner("mode"), fmt::format("is '{}', which is no mode", printable(mode)));
}

TopologyNode::Acs read_acs(const JsonNode& node) {
  TopologyNode::Acs acs{node.at("known").boolean(), {}, node.at("detail").string()};
  for (const auto& bit : node.at("redirects").elements())
    acs.redirects.push_back(bit.string());
  return acs;
}

TopologyNode::Link read_link(const JsonNode& node) {
  constexpr int most = std::numeric_limits<int>::max();
  return {node.at("speed").real(), static_cast<unsigned>(node.at("width").number(most)),
          node.at("max_speed").real(), static_cast<unsigned>(node.at("max_width").number(most))};
}

TopologyNode read_topology_node(const JsonNode& node) {
  TopologyNode read;
  read.bdf = node.at("bdf").string();
  read.host_bridge = node.at("host_bridge").string();
  read.parent = node.at("parent").string_or_null();
  read.kind = node.at("kind").string();
  read.name = node.at("name").string();
  const auto known = [&](const char* key) { return !node.at(key).json.is_null(); };
  if (known("numa_node")) {
    read.numa_node = node.at("numa_node").number(std::numeric_limits<int>::max());
  }
  if (known("iommu")) read.iommu = read_iommu(node.at("iommu"));
  if (known("acs")) read.acs = read_acs(node.at("acs"));
  if (known("link")) read.link = read_link(node.at("link"));
  return read;
}

/// Whoever walks the tree must come to an end, and soon: no circles, and no deeper than PCI goes.
Topology read_topology(const JsonNode& array) {
  constexpr int deepest = 256;  // a domain's buses
  Topology topology;
  std::map<std::string, int> depths;
  for (const auto& element : array.elements()) {
    auto node = read_topology_node(element);
    int depth = 0;
    if (node.parent) {
      const auto parent = depths.find(*node.parent);
      if (parent == depths.end()) flaw(element.inner("parent"), "is no earlier node");
      depth = parent->second + 1;
    }
    if (depth > deepest) flaw(element.place, "is deeper than PCI goes");
    if (!depths.emplace(node.bdf, depth).second) flaw(element.inner("bdf"), "is there twice");
    topology.push_back(std::move(node));
  }
  return topology;
}

check::Evidence read_evidence(const JsonNode& node) {
  return {node.at("source").string(), node.at("observed").string(), node.at("expected").string()};
}

check::Finding read_finding(const JsonNode& node) {
  check::Finding finding;
  finding.id = node.at("id").string();
  finding.status = node.at("status").status();
  if (node.has("device")) finding.device = node.at("device").string();
  if (node.has("peer")) finding.peer = node.at("peer").string();
  for (const auto& evidence : node.at("evidence").elements())
    finding.evidence.push_back(read_evidence(evidence));
  finding.cause = node.at("cause").string();
  finding.remedy = node.at("remedy").string();
  return finding;
}

VerifyReport read_report(const JsonNode& root) {
  VerifyReport report;
  report.kind = read_kind(root);
  check_schema_version(root);
  report.version = root.at("version").string();
  report.verdict = root.at("verdict").status();
  report.exit_status = root.at("exit_status").number(255);
  report.time = root.at("time").time();
  const auto kernel = root.at("kernel");
  report.release = kernel.at("release").string_or_null();
  report.machine = kernel.at("machine").string_or_null();
  report.boot_id = kernel.at("boot_id").string_or_null();
  report.command_line = kernel.at("command_line").string_or_null();
  // Peerpath 0.1.0 had none.
  if (root.has("topology")) report.topology = read_topology(root.at("topology"));
  for (const auto& finding : root.at("findings").elements())
    report.findings.push_back(read_finding(finding));
  if (root.has("selftest")) {
    report.selftest = std::make_shared<Selftest>(read_selftest(root.at("selftest")));
  }
  if (root.has("note")) report.note = root.at("note").string();
  return report;
}

}  // namespace

Result<VerifyReport> parse_report(std::string_view json, std::string_view name) {
  try {
    const auto document = parsed(json);
    return read_report({document, ""});
  } catch (const Flaw& found) {
    return fail(found.code, fmt::format("'{}': {}", printable(name), found.text));
  }
}

}  // namespace peerpath::report
