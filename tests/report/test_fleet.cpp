// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "check/checks.hpp"
#include "report/explain.hpp"
#include "report/fleet.hpp"
#include "report/sample_report.hpp"
#include "report/sample_selftest.hpp"
#include "support/catch.hpp"

#include <memory>

using namespace peerpath;
using namespace peerpath::report;
using check::Finding;
using check::Status;

namespace {

VerifyReport report_of(std::vector<Finding> findings) {
  auto report = sample_report();
  report.findings = std::move(findings);
  report.verdict = check::verdict(report.findings);
  return report;
}

Finding finding(const std::string& id, Status status, std::optional<std::string> device = {},
                std::optional<std::string> peer = {}) {
  return {id, status, std::move(device), {{"source", "observed", "expected"}},
          "", "",     std::move(peer)};
}

}  // namespace

TEST_CASE("plugin_answer: each verdict → its status") {
  const std::pair<Status, int> cases[] = {{Status::ok, 0},
                                          {Status::warn, 0},
                                          {Status::fail, 1},
                                          {Status::unknown, 2},
                                          {Status::not_applicable, 0}};
  for (const auto& [verdict, status] : cases) {
    const auto answer = plugin_answer(report_of({finding("pcie.link", verdict)}));
    CHECK(answer.status == status);
    CHECK(answer.line.starts_with(std::string(check::name_of(verdict)) + ": "));
  }
}

TEST_CASE("plugin_answer: no report → unknown, not a problem") {
  const auto answer = plugin_answer("no report of this boot");
  CHECK(answer.status == 2);
  CHECK(answer.line == "unknown: no report of this boot");
}

TEST_CASE("plugin_answer: several failed → the first, and how many more") {
  CHECK(plugin_answer(sample_report()).line == "fail: iommu.group-type 0000:3b:00.0 (+1 more)");
}

TEST_CASE("plugin_answer: the self-test failed → the worst pair") {
  auto report = report_of({finding("p2p.selftest", Status::fail)});
  report.selftest = std::make_shared<Selftest>(mixed_selftest());
  CHECK(plugin_answer(report).line == "fail: p2p.selftest corruption 0000:1b:00.0 -> 0000:1c:00.0");
}

TEST_CASE("plugin_answer: every id, the longest addresses and figures → at most 80 bytes") {
  for (const auto* record : check::all_records()) {
    for (const auto status : {Status::fail, Status::unknown, Status::warn}) {
      const auto one = finding(std::string(record->id), status, "10000:e1:00.0", "10000:e2:00.0");
      const auto answer = plugin_answer(report_of(std::vector<Finding>(12345, one)));
      CHECK(answer.line.size() <= plugin_line_limit);
      CHECK(answer.line.find(record->id) != std::string::npos);
      CHECK(answer.line.ends_with("(+12344 more)"));
    }
  }
}

TEST_CASE("plugin_answer: names longer than a line → cut between characters, the count stays") {
  std::string id;
  for (int i = 0; i < 60; ++i)
    id += "ü";
  for (const auto* before : {"", "a", "ab", "abc"}) {
    const auto one = finding(before + id, Status::fail);
    const auto line = plugin_answer(report_of({one, one})).line;
    CHECK(line.size() <= plugin_line_limit);
    CHECK(is_utf8(line));
    CHECK(line.ends_with("... (+1 more)"));
  }
}

TEST_CASE("plugin_answer: a line end in an id → still one line") {
  CHECK(plugin_answer(report_of({finding("a\nb", Status::fail)})).line == "fail: a\\x0ab");
  CHECK(plugin_answer("a\nb").line == "unknown: a\\x0ab");
}

TEST_CASE("feature_file: a report → its verdict, what the self-test came to, and an end") {
  auto report = sample_report();
  report.selftest = std::make_shared<Selftest>(corrupt_selftest());
  CHECK(feature_file(report, 1785585600) ==
        "# +expiry-time=2026-08-01T12:15:00Z\n"
        "feature.node.kubernetes.io/peerpath.verdict=fail\n"
        "feature.node.kubernetes.io/peerpath.selftest=corruption\n");
}

TEST_CASE("feature_file: no report → unknown") {
  CHECK(feature_file(std::nullopt, 0) ==
        "# +expiry-time=1970-01-01T00:15:00Z\n"
        "feature.node.kubernetes.io/peerpath.verdict=unknown\n"
        "feature.node.kubernetes.io/peerpath.selftest=unknown\n");
}
