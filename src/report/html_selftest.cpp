// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "report/html_parts.hpp"
#include "report/pairs_in_trouble.hpp"

#include <fmt/format.h>

namespace peerpath::report {
namespace {

using gpu::RunOutcome;
using gpu::SelftestReport;

std::string heading(const SelftestReport& run) {
  const auto verdict = run.verdict();
  auto text = fmt::format("<p>{} {}</p>\n", badge(severity_of(verdict), name_of(verdict)),
                          escaped(pair_counts(run)));
  text += fmt::format("<p class=\"soft\">{} GPU{}, CUDA {}.{}, depth {}, took {:.1f} s{}</p>\n",
                      run.gpus.size(), run.gpus.size() == 1 ? "" : "s", run.driver_version / 1000,
                      run.driver_version % 1000 / 10, name_of(run.depth),
                      static_cast<double>(run.took.count()) / 1000,
                      run.has_kernels ? "" : ", without loads and stores");
  if (run.loopback) {
    text +=
        "<p>Loopback: each GPU with itself. This proves nothing of the ways between GPUs.</p>\n";
  }
  return text;
}

std::string gpu_table(const SelftestReport& run) {
  if (run.gpus.empty()) return "";
  std::string text =
      "<table class=\"list\"><caption>GPUs</caption><thead><tr><th scope=\"col\">number</th>"
      "<th scope=\"col\">address</th><th scope=\"col\">name</th><th scope=\"col\">memory</th>"
      "</tr></thead>\n<tbody>";
  for (std::size_t i = 0; i < run.gpus.size(); ++i) {
    const auto& gpu = run.gpus[i];
    text += fmt::format(
        "<tr><th scope=\"row\">{}</th><td><code>{}</code></td><td>{}</td><td>{:.0f} "
        "GiB</td></tr>\n",
        i, escaped(gpu.bdf), escaped(gpu.name),
        static_cast<double>(gpu.memory) / (1024.0 * 1024 * 1024));
  }
  return scrolling("GPUs", text + "</tbody></table>\n");
}

std::string gpu_words(const SelftestReport& run, std::size_t gpu) {
  return fmt::format("{} (<code>{}</code>)", gpu,
                     escaped(gpu < run.gpus.size() ? run.gpus[gpu].bdf : "?"));
}

std::string log_lines(const Selftest& selftest, std::size_t index) {
  const auto faults = selftest.faults.find(index);
  if (faults == selftest.faults.end()) return "";
  std::string text;
  for (const auto& line : faults->second)
    text += fmt::format("<br/>kernel log: <code>{}</code>", escaped(line));
  return text;
}

std::string pair_rows(const Selftest& selftest, const PairGroup& group) {
  std::string text;
  for (const auto index : group) {
    const auto& pair = selftest.run.pairs[index];
    const auto data = data_words(pair);
    text +=
        fmt::format("<tr><th scope=\"row\">{}</th><th scope=\"row\">{}</th><td>{}{}</td></tr>\n",
                    gpu_words(selftest.run, pair.source), gpu_words(selftest.run, pair.destination),
                    escaped(data.empty() ? "–" : data), log_lines(selftest, index));
  }
  return text;
}

std::string trouble(const Selftest& selftest, const PairGroup& group) {
  const auto& first = selftest.run.pairs[group.front()];
  const auto severity = severity_of(first.verdict);
  std::string what = fmt::format("{} pair{}", group.size(), group.size() == 1 ? "" : "s");
  if (first.failed_test) what += fmt::format(" in {}", name_of(*first.failed_test));
  if (first.signature != gpu::Signature::none)
    what += fmt::format(": {}", name_of(first.signature));
  auto text = fmt::format("<section class=\"card is-{}\">\n<h3>{} {} <code>{}</code></h3>\n",
                          css_class(severity), badge(severity, name_of(first.verdict)),
                          escaped(what), record_id_of(first.verdict));
  text += scrolling("Pairs",
                    "<table class=\"list\"><thead><tr><th scope=\"col\">from</th>"
                    "<th scope=\"col\">to</th><th scope=\"col\">what was seen</th></tr></thead>\n"
                    "<tbody>" +
                        pair_rows(selftest, group) + "</tbody></table>\n");
  text += "<dl>\n";
  if (!first.reason.empty()) text += "<dt>Cause</dt><dd>" + escaped(first.reason) + "</dd>\n";
  return text + fmt::format("<dt>Remedy</dt><dd class=\"remedy\">{}</dd>\n</dl>\n</section>\n",
                            escaped(remedy_of(first.verdict, first.signature)));
}

std::string list(std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  auto text = fmt::format("<h3>{}</h3>\n<ul>\n", title);
  for (const auto& line : lines)
    text += "<li>" + escaped(line) + "</li>\n";
  return text + "</ul>\n";
}

/// The kernel's log counts beside good data, too.
std::vector<std::string> faults_of_passed(const Selftest& selftest) {
  std::vector<std::string> found;
  for (const auto& [index, lines] : selftest.faults) {
    if (index >= selftest.run.pairs.size()) continue;
    const auto& pair = selftest.run.pairs[index];
    if (pair.verdict != gpu::Verdict::passed) continue;
    for (const auto& line : lines)
      found.push_back(fmt::format("{} to {}: {}", pair.source, pair.destination, line));
  }
  return found;
}

std::string left_behind(const SelftestReport& run) {
  if (run.left_behind.empty()) return "";
  std::vector<std::string> pids;
  for (const auto pid : run.left_behind)
    pids.push_back(std::to_string(pid));
  return fmt::format("<p>Still there, although killed: process {}. Reboot the host.</p>\n",
                     join(pids, ", "));
}

}  // namespace

std::string html_selftest(const Selftest& selftest) {
  const auto& run = selftest.run;
  std::string text = "<section>\n<h2>Self-test</h2>\n";
  if (run.outcome != RunOutcome::tested) {
    text +=
        fmt::format("<p>{} {}</p>\n", badge(check::Status::not_applicable, name_of(run.outcome)),
                    escaped(run.detail));
  } else {
    text += heading(run);
  }
  text += html_matrices(run);
  for (const auto& group : pairs_in_trouble(run))
    text += trouble(selftest, group);
  text += list("Passed, but in the kernel log", faults_of_passed(selftest));
  text += gpu_table(run);
  text += list("Not tested", run.not_tested) + list("Notes", selftest.notes) + left_behind(run);
  return text + "</section>\n";
}

}  // namespace peerpath::report
