// SPDX-License-Identifier: GPL-2.0-or-later
// The matrices of the self-test: a row for each GPU that reads or writes, a column for each whose
// memory it is.
#include "report/html_parts.hpp"
#include "report/pairs_in_trouble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace peerpath::report {
namespace {

using check::Status;
using gpu::PairReport;
using gpu::Verdict;

constexpr std::size_t most_with_names = 8;  ///< with more GPUs there's room for codes alone
constexpr int levels = 7;                   ///< h0 to h6 in the style sheet

struct Cell {
  std::string css;
  std::string text;
  std::string small;  ///< below it; may be empty
};
using CellOf = std::function<Cell(const PairReport&)>;

std::string pair_words(const gpu::SelftestReport& run, const PairReport& pair) {
  auto words =
      fmt::format("{} to {}: {}, path {}", run.gpus[pair.source].bdf,
                  run.gpus[pair.destination].bdf, name_of(pair.verdict), name_of(pair.nearness));
  if (pair.bytes_per_second) words += fmt::format(", {:.1f} GB/s", *pair.bytes_per_second / 1e9);
  if (pair.ceiling > 0) words += fmt::format(" of {:.1f} GB/s", pair.ceiling / 1e9);
  if (pair.nanoseconds) words += fmt::format(", {:.0f} ns", *pair.nanoseconds);
  if (!pair.reason.empty()) words += ": " + pair.reason;
  return words;
}

std::string data_cell(const gpu::SelftestReport& run, const PairReport* pair,
                      const CellOf& cell_of) {
  if (pair == nullptr) return "<td class=\"none\">·</td>";
  const auto cell = cell_of(*pair);
  return fmt::format("<td class=\"{}\" title=\"{}\">{}{}</td>", cell.css,
                     escaped(pair_words(run, *pair)), escaped(cell.text),
                     cell.small.empty() ? "" : "<small>" + escaped(cell.small) + "</small>");
}

std::string matrix(const gpu::SelftestReport& run, std::string_view css, std::string_view caption,
                   const CellOf& cell_of) {
  const auto size = run.gpus.size();
  std::map<std::pair<std::size_t, std::size_t>, const PairReport*> pairs;
  for (const auto& pair : run.pairs) {
    if (pair.source < size && pair.destination < size)
      pairs[{pair.source, pair.destination}] = &pair;
  }
  auto text = fmt::format(
      "<table class=\"matrix {}{}\"><caption>{}</caption>\n<thead><tr><th scope=\"col\">from \\ "
      "to</th>",
      css, size > most_with_names ? " wide" : "", caption);
  for (std::size_t to = 0; to < size; ++to)
    text += fmt::format("<th scope=\"col\" title=\"{}\">{}</th>", escaped(run.gpus[to].bdf), to);
  text += "</tr></thead>\n<tbody>\n";
  for (std::size_t from = 0; from < size; ++from) {
    text += fmt::format("<tr><th scope=\"row\"><code>{}</code> <strong>{}</strong></th>",
                        escaped(run.gpus[from].bdf), from);
    for (std::size_t to = 0; to < size; ++to) {
      const auto found = pairs.find({from, to});
      text += data_cell(run, found == pairs.end() ? nullptr : found->second, cell_of);
    }
    text += "</tr>\n";
  }
  return scrolling(caption, text + "</tbody></table>\n");
}

std::string verdicts(const gpu::SelftestReport& run) {
  const bool has_room = run.gpus.size() <= most_with_names;
  auto text = matrix(run, "verdicts", "Verdict", [&](const PairReport& pair) {
    const auto severity = severity_of(pair.verdict);
    return Cell{std::string(css_class(severity)), std::string(symbol(severity)),
                std::string(has_room ? name_of(pair.verdict) : code_of(pair.verdict))};
  });
  if (has_room) return text;
  std::map<Verdict, std::string> legend;
  for (const auto& pair : run.pairs)
    legend[pair.verdict] = fmt::format("{} {}", code_of(pair.verdict), name_of(pair.verdict));
  text += "<p class=\"soft\">";
  for (const auto& [verdict, words] : legend)
    text += badge(severity_of(verdict), words) + " ";
  return text + "</p>\n";
}

std::string scale(std::string_view most) {
  std::string text = "<p class=\"scale\"><span>0</span> ";
  for (int level = 0; level < levels; ++level)
    text += fmt::format("<i class=\"h{}\"></i>", level);
  return text + fmt::format(" <span>{}</span></p>\n", escaped(most));
}

/// What is measured of a pair, and how it's written.
struct Measure {
  std::string_view css;
  std::string_view caption;
  std::string_view unit;
  std::optional<double> PairReport::*value;
  double one;  ///< unit
  int digits;
  bool with_share;  ///< of the path's ceiling
};

std::string number(const Measure& measure, double value) {
  return fmt::format("{:.{}f}", value / measure.one, measure.digits);
}

std::string heat_map(const gpu::SelftestReport& run, const Measure& measure) {
  double most = 0;
  for (const auto& pair : run.pairs)
    most = std::max(most, (pair.*measure.value).value_or(0));
  if (!(most > 0)) return "";
  return matrix(run, measure.css, measure.caption,
                [&](const PairReport& pair) {
                  const auto& value = pair.*measure.value;
                  if (!value) return Cell{"na", "–", ""};
                  const int level =
                      std::clamp(static_cast<int>(*value / most * levels), 0, levels - 1);
                  const auto severity = severity_of(pair.verdict);
                  const auto mark =
                      severity == Status::ok ? "" : fmt::format("{} ", symbol(severity));
                  const auto share = measure.with_share && pair.ceiling > 0
                                         ? fmt::format("{:.0f} %", 100 * *value / pair.ceiling)
                                         : std::string();
                  return Cell{fmt::format("h{}", level), mark + number(measure, *value), share};
                }) +
         scale(fmt::format("{} {}", number(measure, most), measure.unit));
}

constexpr Measure bandwidth{"bandwidth", "Bandwidth in GB/s, and of what the path can carry",
                            "GB/s",      &PairReport::bytes_per_second,
                            1e9,         1,
                            true};
constexpr Measure latency{
    "latency", "Latency of a load in ns", "ns", &PairReport::nanoseconds, 1, 0, false};

}  // namespace

std::string html_matrices(const gpu::SelftestReport& run) {
  if (run.gpus.empty() || run.pairs.empty()) return "";
  std::string text = "<div class=\"matrices\">\n";
  for (const auto& part : {verdicts(run), heat_map(run, bandwidth), heat_map(run, latency)}) {
    if (!part.empty()) text += "<div>\n" + part + "</div>\n";
  }
  return text + "</div>\n";
}

}  // namespace peerpath::report
