// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "report/html.hpp"
#include "report/html_parts.hpp"
#include "report/sample_pages.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

using namespace peerpath;
using namespace peerpath::report;

namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

/// From a word to the next end of that element.
std::string_view between(std::string_view text, std::string_view from, std::string_view to) {
  const auto begin = text.find(from);
  REQUIRE(begin != std::string_view::npos);
  const auto end = text.find(to, begin);
  REQUIRE(end != std::string_view::npos);
  return text.substr(begin, end - begin);
}

/// What isn't as XML has it: tags that don't nest, attributes without quotes, `<` or `&` in texts.
std::string flaw_of(std::string_view page) {
  std::vector<std::string> open;
  for (auto at = page.find('<'); at != std::string_view::npos; at = page.find('<', at)) {
    const auto end = page.find_first_of("<>", at + 1);
    if (end == std::string_view::npos || page[end] == '<') return "no end of a tag";
    auto tag = page.substr(at + 1, end - at - 1);
    at = end;
    if (tag.starts_with('!')) continue;
    if (count(tag, "\"") % 2 != 0 || has(tag, "'") != has(tag, "default-src 'none'")) {
      return "quotes: " + std::string(tag);
    }
    const auto name = std::string(tag.substr(0, tag.find_first_of(" /", 1)));
    if (tag.starts_with('/')) {
      if (open.empty() || "/" + open.back() != name) return "not open: " + name;
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

/// The colours of a style sheet's part, by name.
std::map<std::string, std::string> colours(std::string_view part) {
  std::map<std::string, std::string> found;
  for (const auto declaration : split(part, ';')) {
    const auto name = declaration.find("--");
    const auto value = declaration.find(": #");
    if (name == std::string_view::npos || value == std::string_view::npos || value < name) continue;
    found[std::string(declaration.substr(name + 2, value - name - 2))] =
        std::string(declaration.substr(value + 3, 6));
  }
  return found;
}

/// WCAG 2.2, "relative luminance" and "contrast ratio".
double luminance(const std::string& colour) {
  const auto channel = [&](std::size_t at) {
    const auto value = static_cast<double>(parse_number(colour.substr(at, 2), 16).value()) / 255;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4);
}

double contrast(const std::string& one, const std::string& other) {
  const auto [low, high] = std::minmax({luminance(one), luminance(other)});
  return (high + 0.05) / (low + 0.05);
}

}  // namespace

TEST_CASE("escaped: what means something to HTML, XML or a terminal → harmless, nothing is lost") {
  CHECK(escaped("a<b>&\"'") == "a&lt;b&gt;&amp;&quot;&#39;");
  CHECK(escaped("&amp;") == "&amp;amp;");
  CHECK(escaped(std::string("\0\n\x7f\xff", 4)) == "\\x00\\x0a\\x7f\\xff");
  CHECK(escaped("\xe2\x80\xae"
                "abc\xe2\x81\xa6\xef\xbf\xbf") == "\\u202eabc\\u2066\\uffff");
  CHECK(escaped("é – ✓") == "é – ✓");
}

TEST_CASE("to_html: every sample → well-formed, one page, nothing that is loaded or run") {
  for (const auto& [name, report] : sample_pages()) {
    INFO(name);
    const auto page = to_html(report);
    CHECK(flaw_of(page).empty());
    CHECK(
        page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>"));
    CHECK(has(page, "content=\"default-src 'none';"));
    CHECK(count(page, "<h1>") == 1);
    CHECK(count(page, "<style>") == 1);
    for (const auto* part : {"<script", "<img", "<link", "<iframe", " src=\"", " href=", "url(",
                             "http:", "https:", "@import", " onerror=\"", " style=\""}) {
      INFO(part);
      CHECK_FALSE(has(page, part));
    }
    CHECK(is_utf8(page));
  }
}

TEST_CASE("flaw_of: what isn't well-formed → found") {
  CHECK(flaw_of("<a><b></a></b>") != "");
  CHECK(flaw_of("<a>") != "");
  CHECK(flaw_of("<a x='1'></a>") != "");
  CHECK(flaw_of("<a>1 < 2</a>") != "");
}

TEST_CASE("to_html: hostile texts → text everywhere, as long as they are") {
  const auto page = to_html(hostile_machine());
  CHECK_FALSE(has(page, "<script"));
  CHECK_FALSE(has(page, "\xe2\x80\xae"));
  CHECK(count(page, "&lt;script&gt;alert(1)&lt;/script&gt;") > 50);
  CHECK(count(page, std::string(600, 'W')) > 50);
}

TEST_CASE("to_html: each finding → with id, device, evidence, cause and remedy") {
  const auto report = sample_report();
  const auto page = to_html(report);
  for (const auto& finding : report.findings) {
    INFO(finding.id);
    CHECK(has(page, "<code>" + finding.id + "</code>"));
    if (finding.device) CHECK(has(page, "<code>" + *finding.device + "</code></th>"));
    CHECK(has(page, "<dd>" + escaped(finding.cause) + "</dd>") == !finding.cause.empty());
    if (!finding.remedy.empty()) {
      CHECK(has(page, "<dd class=\"remedy\">" + escaped(finding.remedy) + "</dd>"));
    }
    CHECK(has(page, "<td><code>" + escaped(finding.evidence[0].source) + "</code></td>"));
    CHECK(has(page, "<td><code>" + escaped(finding.evidence[0].observed) + "</code></td>"));
  }
  // The worst first; the same cause once.
  CHECK(count(page, "<section class=\"card is-fail\">") == 1);
  CHECK(page.find("card is-fail") < page.find("card is-unknown"));
  CHECK(page.find("card is-unknown") < page.find("card is-warn"));
  CHECK(has(page, "<span aria-hidden=\"true\">✗</span> Verdict: fail</strong>"));
}

TEST_CASE("to_html: the tree → each device with its mode, and the port that redirects") {
  const auto page = to_html(sample_report());
  const auto svg = std::string(between(page, "<svg role", "</section>"));
  for (const auto& node : sample_topology()) {
    INFO(node.bdf);
    CHECK(has(svg, "class=\"bdf\">" + node.bdf + "</text>"));
  }
  CHECK(has(svg, "class=\"ok\">✓ identity</text>"));
  CHECK(has(svg, "class=\"fail\">✗ translated (DMA-FQ)</text>"));
  CHECK(has(svg, ">2.5 GT/s x8 of x16</text>"));
  CHECK(count(svg, "<path class=\"redirects\"") == 1);
  CHECK(count(svg, "<polygon ") == 1);
  const auto port = between(svg, "<g><title>0000:3c:01.0", "</g>");
  CHECK(has(port, "class=\"box redirects\""));
  CHECK(has(port, "✗ ACS redirect</text>"));
  CHECK(has(between(svg, "<g><title>0000:3c:00.0", "</g>"), "✓ no ACS redirect</text>"));
  CHECK(has(svg, "ACS redirects at 1 bridge."));
  CHECK(has(page, "✗</span> at 1 bridge</span>"));
  CHECK(has(page, "✗</span> 1 of 2 devices untranslated</span>"));
}

TEST_CASE("to_html: a redirect above a single device → said, but not marked: there's no peer") {
  VerifyReport report;
  report.topology = sample_topology();
  report.topology.erase(report.topology.begin() + 2, report.topology.begin() + 4);
  const auto page = to_html(report);
  CHECK(has(page, "class=\"soft\">ACS redirect</text>"));
  CHECK(has(page, "<td>no</td></tr>"));
  CHECK_FALSE(has(page, "class=\"redirects\""));
  CHECK_FALSE(has(page, "A dashed edge"));
  CHECK(has(page, "✓</span> none</span>"));
}

TEST_CASE("to_html: ACS that couldn't be read → unknown, and never 'none'") {
  auto report = sample_report();
  for (auto& node : report.topology) {
    if (node.acs) node.acs = TopologyNode::Acs{false, {}, "permission denied"};
    if (node.iommu) node.iommu = TopologyNode::Iommu{check::Translation::unknown, ""};
  }
  const auto page = to_html(report);
  CHECK(has(page, "?</span> unknown at 2 bridges</span>"));
  CHECK(has(page, "?</span> 0 of 2 devices untranslated</span>"));
  CHECK(has(page, "class=\"unknown\">? IOMMU mode unknown</text>"));
  CHECK_FALSE(has(page, "Redirect points: none"));
}

TEST_CASE("to_html: no topology, no self-test → it says so and claims nothing") {
  const auto page = to_html(VerifyReport{});
  CHECK(has(page, "?</span> Verdict: unknown</strong>"));
  CHECK(has(page, "This report has no topology"));
  CHECK(has(page, "This report has none. Findings alone don't prove that data arrives"));
  CHECK(has(page, "no findings"));
  CHECK_FALSE(has(page, "<svg"));
  CHECK_FALSE(has(page, "class=\"badge ok\""));
  CHECK_FALSE(has(page, "<table class=\"matrix"));
}

TEST_CASE("to_html: matrices → a cell for each pair with verdict and figures") {
  const auto page = to_html(bad_machine());
  const auto verdicts = std::string(between(page, "<table class=\"matrix verdicts", "</table>"));
  CHECK(count(verdicts, ">✗<small>corruption</small></td>") == 7);
  CHECK(count(verdicts, ">!<small>degraded</small></td>") == 7);
  CHECK(count(verdicts, ">✓<small>passed</small></td>") == 42);
  CHECK(count(verdicts, "<td class=\"none\">") == 8);
  CHECK(count(verdicts, "<th scope=\"row\">") == 8);
  const auto bandwidth = std::string(between(page, "<table class=\"matrix bandwidth", "</table>"));
  CHECK(count(bandwidth, ">52.4<small>83 %</small></td>") == 41);
  CHECK(has(bandwidth, "<td class=\"h6\""));
  CHECK(has(bandwidth, ">! 11.2<small>18 %</small></td>"));
  CHECK(count(bandwidth, "<td class=\"none\">") == 8);
  CHECK(count(bandwidth, "<td class=\"na\"") == 7);
  const auto latency = std::string(between(page, "<table class=\"matrix latency", "</table>"));
  CHECK(count(latency, ">1234</td>") == 41);
  CHECK(has(page, "kernel log: <code>[1234.500000] DMAR:"));
}

TEST_CASE("to_html: sixteen GPUs → codes with a legend; each pair that didn't pass") {
  const auto page = to_html(large_machine());
  CHECK(has(page, "<table class=\"matrix verdicts wide\">"));
  for (const auto* words :
       {"BAD corruption", "DIE host-died", "HNG hang", "ERR error", "asy asymmetric",
        "no unsupported", "slo degraded", "? inconclusive", "ok passed"}) {
    INFO(words);
    CHECK(has(page, std::string("</span> ") + words + "</span>"));
  }
  CHECK(has(page, "Still there, although killed: process 4711."));
}

TEST_CASE("to_html: nothing could be tested → why, and no matrix") {
  auto report = sample_report();
  Selftest selftest;
  selftest.run.outcome = gpu::RunOutcome::no_driver;
  selftest.run.detail = "libcuda.so.1: no such file";
  report.selftest = std::make_shared<const Selftest>(selftest);
  const auto page = to_html(report);
  CHECK(count(page, "–</span> no-driver</span>") == 2);
  CHECK(has(page, "libcuda.so.1: no such file"));
  CHECK_FALSE(has(page, "<table class=\"matrix"));
}

TEST_CASE("html_style: every text on its ground → a contrast of 4.5 or more in both schemes") {
  const auto style = html_style();
  const auto dark_begin = style.find("@media screen and (prefers-color-scheme: dark)");
  const auto dark_end = style.find("* { box-sizing");
  REQUIRE(dark_end != std::string_view::npos);
  const auto light = colours(style.substr(0, dark_begin));
  const auto dark = colours(style.substr(dark_begin, dark_end - dark_begin));
  CHECK(light.size() == dark.size());
  std::size_t pairs = 0;
  for (const auto& scheme : {light, dark}) {
    for (const auto& [name, ground] : scheme) {
      const auto ink = scheme.find(name + "-ink");
      if (ink == scheme.end()) continue;
      INFO(name);
      CHECK(contrast(ground, ink->second) >= 4.5);
      ++pairs;
    }
    // These stand on the page and on cards alike.
    CHECK(contrast(scheme.at("page"), scheme.at("soft-ink")) >= 4.5);
    CHECK(contrast(scheme.at("card"), scheme.at("soft-ink")) >= 4.5);
    CHECK(contrast(scheme.at("page"), scheme.at("page-ink")) >= 4.5);
    // A line or an arrow needs 3.
    CHECK(contrast(scheme.at("page"), scheme.at("alarm")) >= 3);
  }
  CHECK(pairs == 2 * 15);
}

// For tests/html/run: PEERPATH_PAGES is a folder for the samples' pages and reports.
TEST_CASE("sample pages → written where they are asked for", "[.pages]") {
  const auto* folder = std::getenv("PEERPATH_PAGES");
  REQUIRE(folder != nullptr);
  for (const auto& [name, report] : sample_pages()) {
    std::ofstream page(fmt::format("{}/{}.html", folder, name), std::ios::binary);
    page << to_html(report) << std::flush;
    CHECK(page.good());
    std::ofstream json(fmt::format("{}/{}.json", folder, name), std::ios::binary);
    json << to_json(report) << std::flush;
    CHECK(json.good());
  }
}
