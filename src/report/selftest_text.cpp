// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "report/layout.hpp"
#include "report/pairs_in_trouble.hpp"
#include "report/selftest_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace peerpath::report {
namespace {

using check::Status;
using gpu::PairReport;
using gpu::Verdict;

struct Cell {
  std::string text;
  Status severity = Status::not_applicable;
};

/// A square of cells, a row and a column for each GPU; those on the diagonal are mostly empty.
class Matrix {
 public:
  using Words = std::function<std::string(const PairReport&)>;

  Matrix(const gpu::SelftestReport& run, const Words& words) : size_(run.gpus.size()) {
    cells_.resize(size_ * size_);
    for (const auto& pair : run.pairs) {
      if (pair.source >= size_ || pair.destination >= size_) continue;
      auto& cell = cells_[pair.source * size_ + pair.destination];
      cell = {words(pair), severity_of(pair.verdict)};
      widest_ = std::max(widest_, cell.text.size());
      is_empty_ = is_empty_ && cell.text.empty();
    }
    widest_ = std::max(widest_, label(size_ - 1).size());
  }

  [[nodiscard]] bool is_empty() const { return is_empty_; }
  [[nodiscard]] std::size_t width() const { return label_width() + size_ * (widest_ + 1); }

  [[nodiscard]] std::string text(const TextStyle& style) const {
    std::string text(label_width(), ' ');
    for (std::size_t to = 0; to < size_; ++to)
      text += fmt::format(" {:>{}}", to, widest_);
    text += '\n';
    for (std::size_t from = 0; from < size_; ++from)
      text += row(from, style);
    return text;
  }

 private:
  static std::string label(std::size_t number) { return std::to_string(number); }
  [[nodiscard]] std::size_t label_width() const { return 2 + label(size_ - 1).size(); }

  [[nodiscard]] std::string row(std::size_t from, const TextStyle& style) const {
    std::string line = fmt::format("{:>{}}", from, label_width());
    for (std::size_t to = 0; to < size_; ++to) {
      const auto& cell = cells_[from * size_ + to];
      const std::string shown = cell.text.empty() ? "." : cell.text;
      line += std::string(1 + widest_ - shown.size(), ' ');
      line +=
          painted(shown, cell.text.empty() ? Status::not_applicable : cell.severity, style.colour);
    }
    return line + "\n";
  }

  std::size_t size_;
  std::vector<Cell> cells_;
  std::size_t widest_ = 1;
  bool is_empty_ = true;
};

/// A number in as few columns as say enough.
std::string short_number(double number) {
  return number < 9.95 ? fmt::format("{:.1f}", number) : fmt::format("{:.0f}", number);
}

std::string verdict_matrix(const gpu::SelftestReport& run, const TextStyle& style) {
  const Matrix matrix(run,
                      [](const PairReport& pair) { return std::string(code_of(pair.verdict)); });
  auto text = "\nVerdict, row to column\n" + matrix.text(style);
  std::map<Verdict, std::string> legend;
  for (const auto& pair : run.pairs)
    legend[pair.verdict] = fmt::format("{} {}", code_of(pair.verdict), name_of(pair.verdict));
  std::vector<std::string> parts;
  for (const auto& [verdict, words] : legend)
    parts.push_back(words);
  return text + wrapped(join(parts, ", "), style.width, "  ", "  ");
}

/// The table by the finer of two forms that fits.
std::string number_matrix(const gpu::SelftestReport& run, const TextStyle& style,
                          std::optional<double> PairReport::*member, double fine_unit,
                          int fine_digits, std::string_view fine_title, double coarse_unit,
                          std::string_view coarse_title) {
  const Matrix fine(run, [&](const PairReport& pair) {
    const auto& value = pair.*member;
    return value ? fmt::format("{:.{}f}", *value / fine_unit, fine_digits) : std::string();
  });
  if (fine.is_empty()) return "";
  if (fine.width() <= style.width) return fmt::format("\n{}\n{}", fine_title, fine.text(style));
  const Matrix coarse(run, [&](const PairReport& pair) {
    const auto& value = pair.*member;
    return value ? short_number(*value / coarse_unit) : std::string();
  });
  return fmt::format("\n{}\n{}", coarse_title, coarse.text(style));
}

std::string heading(const Selftest& selftest, const TextStyle& style) {
  const auto& run = selftest.run;
  const auto verdict = run.verdict();
  const auto add = [&](const std::string& line) {
    return wrapped(printable(line), style.width, "  ", "    ");
  };
  if (run.outcome != gpu::RunOutcome::tested) {
    auto text = fmt::format("Self-test: {}\n",
                            painted(name_of(run.outcome), Status::not_applicable, style.colour));
    return run.detail.empty() ? text : text + add(run.detail);
  }
  auto text =
      fmt::format("Self-test: {}\n", painted(name_of(verdict), severity_of(verdict), style.colour));
  text += add(pair_counts(run));
  text += add(fmt::format("{} GPU{}, CUDA {}.{}, depth {}, took {:.1f} s{}", run.gpus.size(),
                          run.gpus.size() == 1 ? "" : "s", run.driver_version / 1000,
                          run.driver_version % 1000 / 10, name_of(run.depth),
                          static_cast<double>(run.took.count()) / 1000,
                          run.has_kernels ? "" : ", without loads and stores"));
  if (run.loopback) {
    text += add("loopback: each GPU with itself; this proves nothing of the ways between GPUs");
  }
  return text;
}

std::string gpu_list(const gpu::SelftestReport& run, const TextStyle& style) {
  if (run.gpus.empty()) return "";
  std::string text = "\n";
  const auto width = std::to_string(run.gpus.size() - 1).size();
  for (std::size_t i = 0; i < run.gpus.size(); ++i) {
    const auto& gpu = run.gpus[i];
    text += shortened(
                fmt::format("  {:>{}}  {}  {}", i, width, printable(gpu.bdf), printable(gpu.name)),
                style.width, style.unicode ? "…" : "...") +
            "\n";
  }
  return text;
}

class Troubles {
 public:
  Troubles(const Selftest& selftest, const TextStyle& style) : selftest_(selftest), style_(style) {}

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const auto& pairs : pairs_in_trouble(selftest_.run))
      text += "\n" + group(pairs);
    return text;
  }

 private:
  /// Pairs of which the same is to be said.
  [[nodiscard]] std::string group(const PairGroup& group) const {
    const auto& first = selftest_.run.pairs[group.front()];
    auto text = painted(name_of(first.verdict), severity_of(first.verdict), style_.colour);
    if (first.failed_test) text += fmt::format(" in {}", name_of(*first.failed_test));
    if (first.signature != gpu::Signature::none) {
      text += fmt::format(": {}", name_of(first.signature));
    }
    text += fmt::format(" ({} pair{})\n", group.size(), group.size() == 1 ? "" : "s");
    for (const auto index : group)
      text += pair(index);
    if (!first.reason.empty()) {
      text += wrapped("Cause: " + printable(first.reason), style_.width, "  ", "    ");
    }
    const auto remedy = remedy_of(first.verdict, first.signature);
    return text + wrapped(fmt::format("Remedy: {}", remedy), style_.width, "  ", "    ");
  }

  [[nodiscard]] std::string pair(std::size_t index) const {
    const auto& pair = selftest_.run.pairs[index];
    const auto& gpus = selftest_.run.gpus;
    const auto bdf = [&](std::size_t gpu) { return gpu < gpus.size() ? gpus[gpu].bdf : "?"; };
    auto line = fmt::format("{} -> {} ({} -> {})", pair.source, pair.destination,
                            printable(bdf(pair.source)), printable(bdf(pair.destination)));
    const auto data = data_words(pair);
    auto text = wrapped(line + (data.empty() ? "" : ": " + data), style_.width, "  ", "      ");
    const auto faults = selftest_.faults.find(index);
    if (faults == selftest_.faults.end()) return text;
    for (const auto& fault : faults->second)
      text += wrapped("kernel log: " + printable(fault), style_.width, "    ", "      ");
    return text;
  }

  const Selftest& selftest_;
  const TextStyle& style_;
};

/// The kernel's log counts beside good data, too.
std::string faults_of_passed(const Selftest& selftest, const TextStyle& style) {
  std::string text;
  for (const auto& [index, lines] : selftest.faults) {
    if (index >= selftest.run.pairs.size()) continue;
    const auto& pair = selftest.run.pairs[index];
    if (pair.verdict != Verdict::passed) continue;
    for (const auto& line : lines)
      text += wrapped(fmt::format("{} -> {} passed, but in the kernel log: {}", pair.source,
                                  pair.destination, printable(line)),
                      style.width, "  ", "    ");
  }
  return text.empty() ? text : "\n" + text;
}

std::string list(std::string_view title, const std::vector<std::string>& lines,
                 const TextStyle& style) {
  if (lines.empty()) return "";
  auto text = fmt::format("\n{}\n", title);
  for (const auto& line : lines)
    text += wrapped(printable(line), style.width, "  ", "    ");
  return text;
}

std::string left_behind(const gpu::SelftestReport& run, const TextStyle& style) {
  if (run.left_behind.empty()) return "";
  std::vector<std::string> pids;
  for (const auto pid : run.left_behind)
    pids.push_back(std::to_string(pid));
  return wrapped(
      fmt::format("Still there, although killed: process {}. Reboot the host.", join(pids, ", ")),
      style.width, "\n", "  ");
}

}  // namespace

std::string selftest_text(const Selftest& selftest, const TextStyle& style) {
  const auto& run = selftest.run;
  auto text = heading(selftest, style) + gpu_list(run, style);
  if (!run.pairs.empty() && !run.gpus.empty()) {
    text += verdict_matrix(run, style);
    text +=
        number_matrix(run, style, &PairReport::bytes_per_second, 1e9, 1,
                      "Bandwidth in GB/s, row to column", 1e9, "Bandwidth in GB/s, row to column");
    text += number_matrix(run, style, &PairReport::nanoseconds, 1, 0,
                          "Latency of a load in ns, row to column", 1e3,
                          "Latency of a load in us, row to column");
    text += Troubles(selftest, style).text();
    text += faults_of_passed(selftest, style);
  }
  text += list("Not tested:", run.not_tested, style);
  text += list("Notes:", selftest.notes, style);
  return text + left_behind(run, style);
}

}  // namespace peerpath::report
