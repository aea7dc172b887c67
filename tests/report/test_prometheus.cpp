// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "report/prometheus.hpp"
#include "report/sample_report.hpp"
#include "report/sample_selftest.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <set>

using namespace peerpath;
using namespace peerpath::report;

namespace {

std::string golden(const std::string& name) {
  std::ifstream file(std::string(PEERPATH_TESTS_DIR) + "/report/golden/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

VerifyReport with_selftest(Selftest selftest) {
  auto report = sample_report();
  report.selftest = std::make_shared<Selftest>(std::move(selftest));
  return report;
}

bool has_line(const std::string& text, std::string_view line) {
  const auto all = lines(text);
  return std::find(all.begin(), all.end(), line) != all.end();
}

/// What the collector would refuse: lines of another form, a series that comes twice, samples
/// without their comments before them.
void check_form(const std::string& text) {
  static const std::regex sample(
      R"(([a-z_]+)(\{([a-z]+="([^"\\\n]|\\["\\n])*",?)*\})? [0-9][0-9.e+-]*)");
  std::set<std::string> series;
  std::string family;
  for (const auto view : lines(text)) {
    const std::string line(view);
    if (line.starts_with("# TYPE ")) family = words(line)[2];
    if (line.starts_with("# ")) continue;
    std::smatch match;
    INFO(line);
    REQUIRE(std::regex_match(line, match, sample));
    CHECK(match[1] == family);
    CHECK(series.insert(line.substr(0, line.rfind(' '))).second);
  }
  CHECK(is_utf8(text));
  CHECK(text.ends_with('\n'));
}

}  // namespace

TEST_CASE("prometheus_text: a corrupt pair → golden") {
  const auto text = prometheus_text(with_selftest(corrupt_selftest()));
  CHECK(text == golden("report-corrupt.prom"));
  check_form(text);
}

TEST_CASE(
    "prometheus_text: sixteen GPUs and pairs of every verdict → one series a pair and metric") {
  const auto text = prometheus_text(with_selftest(mixed_selftest()));
  check_form(text);
  CHECK(has_line(
      text,
      R"(peerpath_pair_verdict{source="0000:1b:00.0",destination="0000:1c:00.0",verdict="corruption"} 1)"));
  CHECK(has_line(
      text,
      R"(peerpath_pair_bandwidth_bytes_per_second{source="0000:28:00.0",destination="0000:29:00.0"} 9040000000)"));
  CHECK(has_line(
      text,
      R"(peerpath_pair_load_latency_seconds{source="0000:28:00.0",destination="0000:29:00.0"} 6.4e-07)"));
}

TEST_CASE("prometheus_text: no self-test → no metric of it, not even the comments") {
  CHECK(prometheus_text(sample_report()).find("selftest_") == std::string::npos);
  CHECK(prometheus_text(sample_report()).find("pair") == std::string::npos);
}

TEST_CASE("prometheus_text: quotes, line ends, backslashes and bytes that aren't UTF-8 → escaped") {
  auto report = sample_report();
  report.version =
      "a\"b\\c\nd\xff"
      "ü";
  const auto text = prometheus_text(report);
  check_form(text);
  CHECK(has_line(text, R"(peerpath_build_info{version="a\"b\\c\\x0ad\\xffü"} 1)"));
}

TEST_CASE("prometheus_text: a finding that comes twice → one series") {
  auto report = sample_report();
  report.findings.push_back(report.findings.front());
  check_form(prometheus_text(report));
}

TEST_CASE("prometheus_text: the boot's id → not in it") {
  CHECK(prometheus_text(sample_report()).find(*sample_report().boot_id) == std::string::npos);
}
