// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/html.hpp"

#include "report/device_tree.hpp"
#include "report/html_parts.hpp"
#include "report/layout.hpp"
#include "report/timestamp.hpp"

#include <fmt/format.h>

namespace peerpath::report {
namespace {

using check::Status;

// Nothing may be loaded, sent or run, whatever came into the page; the style sheet is its own.
constexpr std::string_view policy =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

std::string head(const VerifyReport& report) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"referrer\" content=\"no-referrer\"/>\n"
      "<meta name=\"generator\" content=\"peerpath {}\"/>\n"
      "<title>peerpath: {}, {}</title>\n<style>{}</style>\n</head>\n",
      policy, escaped(report.version), name_of(report.verdict), format_time(report.time),
      html_style());
}

std::string tile(std::string_view title, Status status, std::string_view text) {
  return fmt::format("<li><span class=\"soft\">{}</span>{}</li>\n", title, badge(status, text));
}

std::string iommu_tile(const Topology& topology) {
  std::size_t devices = 0;
  std::size_t good = 0;
  auto worst = Status::ok;
  for (const auto& node : topology) {
    if (!node.iommu) continue;
    ++devices;
    const auto severity = severity_of(node.iommu->mode);
    if (severity == Status::ok) ++good;
    if (rank(severity) < rank(worst)) worst = severity;
  }
  if (devices == 0) return tile("IOMMU", Status::unknown, "no device known");
  return tile(
      "IOMMU", worst,
      fmt::format("{} of {} device{} untranslated", good, devices, devices == 1 ? "" : "s"));
}

/// Of the bridges between devices; the others redirect nothing that matters here.
std::string redirect_tile(const Topology& topology) {
  const DeviceTree tree(topology);
  std::size_t redirects = 0;
  std::size_t unknown = 0;
  for (const auto& node : topology) {
    if (!node.acs || !tree.is_between(node)) continue;
    if (!node.acs->redirects.empty()) {
      ++redirects;
    } else if (!node.acs->known) {
      ++unknown;
    }
  }
  const auto title = "ACS redirect between devices";
  const auto bridges = [](std::size_t count) {
    return fmt::format("{} bridge{}", count, count == 1 ? "" : "s");
  };
  if (redirects > 0) return tile(title, Status::fail, "at " + bridges(redirects));
  if (unknown > 0) return tile(title, Status::unknown, "unknown at " + bridges(unknown));
  if (topology.empty()) return tile(title, Status::unknown, "no bridge known");
  return tile(title, Status::ok, "none");
}

std::string selftest_tile(const Selftest* selftest) {
  const auto title = "Self-test";
  if (selftest == nullptr) return tile(title, Status::not_applicable, "none in this report");
  const auto& run = selftest->run;
  if (run.outcome != gpu::RunOutcome::tested) {
    return tile(title, Status::not_applicable, name_of(run.outcome));
  }
  return tile(title, severity_of(run.verdict()), pair_counts(run));
}

std::string facts(const VerifyReport& report) {
  const auto fact = [](std::string_view name, const std::optional<std::string>& value) {
    return fmt::format("<dt>{}</dt><dd><code>{}</code></dd>\n", name,
                       value ? escaped(*value) : std::string("unknown"));
  };
  auto kernel = report.release;
  if (kernel && report.machine) *kernel += " on " + *report.machine;
  auto text = "<dl>\n" + fact("Kernel", kernel) + fact("Command line", report.command_line) +
              fact("Boot", report.boot_id) + fact("Checked", format_time(report.time));
  if (!report.note.empty()) text += "<dt>Note</dt><dd>" + escaped(report.note) + "</dd>\n";
  return text + "</dl>\n";
}

std::string header(const VerifyReport& report) {
  return fmt::format(
      "<header>\n<h1>GPU peer-to-peer over PCIe</h1>\n"
      "<p class=\"verdict {}\"><strong><span aria-hidden=\"true\">{}</span> Verdict: {}</strong> "
      "<span>{}</span></p>\n<ul class=\"tiles\">\n{}{}{}</ul>\n{}</header>\n",
      css_class(report.verdict), symbol(report.verdict), name_of(report.verdict),
      counts(report.findings), iommu_tile(report.topology), redirect_tile(report.topology),
      selftest_tile(report.selftest.get()), facts(report));
}

std::string topology_part(const Topology& topology) {
  const std::string title = "<section>\n<h2>PCIe tree</h2>\n";
  if (topology.empty()) {
    return title + "<p>This report has no topology: it could not be read.</p>\n</section>\n";
  }
  return title + html_tree(topology) + html_devices(topology) + "</section>\n";
}

std::string selftest_part(const Selftest* selftest) {
  if (selftest != nullptr) return html_selftest(*selftest);
  return "<section>\n<h2>Self-test</h2>\n<p>This report has none. Findings alone don't prove that "
         "data arrives: <code>peerpath selftest</code> does.</p>\n</section>\n";
}

}  // namespace

std::string to_html(const VerifyReport& report) {
  return head(report) + "<body>\n" + header(report) + "<main>\n" + html_findings(report.findings) +
         topology_part(report.topology) + selftest_part(report.selftest.get()) + "</main>\n" +
         fmt::format(
             "<footer>Made by peerpath {}. <code>peerpath explain ID</code> says what a "
             "finding means.</footer>\n</body>\n</html>\n",
             escaped(report.version));
}

}  // namespace peerpath::report
