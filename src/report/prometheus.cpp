// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/prometheus.hpp"

#include "base/text.hpp"
#include "report/selftest_report.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>
#include <utility>

namespace peerpath::report {
namespace {

using check::Status;

struct Label {
  std::string_view name;
  std::string value;
};
using Labels = std::vector<Label>;

/// Control bytes and what isn't UTF-8 become readable first; then what the format escapes.
std::string escaped(std::string_view value) {
  std::string result;
  for (const char c : printable(value)) {
    if (c == '\\' || c == '"') result += '\\';
    result += c;
  }
  return result;
}

/// The samples of one metric below its two comments; nothing where there are none.
class Family {
 public:
  Family(std::string_view name, std::string_view help) : name_(name), help_(help) {}

  void add(const Labels& labels, double value) {
    std::string series;
    for (const auto& label : labels) {
      series +=
          fmt::format("{}{}=\"{}\"", series.empty() ? "" : ",", label.name, escaped(label.value));
    }
    if (!seen_.insert(series).second) return;
    samples_ += series.empty() ? fmt::format("{} {}\n", name_, value)
                               : fmt::format("{}{{{}}} {}\n", name_, series, value);
  }

  [[nodiscard]] std::string text() const {
    if (samples_.empty()) return {};
    return fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n{2}", name_, help_, samples_);
  }

 private:
  std::string_view name_;
  std::string_view help_;
  std::string samples_;
  std::set<std::string> seen_;
};

std::string verdict_metric(Status verdict) {
  constexpr std::array all{Status::ok, Status::warn, Status::fail, Status::unknown,
                           Status::not_applicable};
  Family family("peerpath_verdict", "1 for the verdict of the check at boot, 0 for the others.");
  for (const auto status : all)
    family.add({{"verdict", std::string(name_of(status))}}, status == verdict ? 1 : 0);
  return family.text();
}

/// Only the status that holds: five series for each pair of sixteen GPUs would be too many.
std::string finding_metric(const std::vector<check::Finding>& findings) {
  Family family("peerpath_finding_status",
                "1 with the status of each finding; device and peer are PCI addresses.");
  for (const auto& finding : findings) {
    family.add({{"id", finding.id},
                {"device", finding.device.value_or("")},
                {"peer", finding.peer.value_or("")},
                {"status", std::string(name_of(finding.status))}},
               1);
  }
  return family.text();
}

std::string gpu_metric(const gpu::SelftestReport& run) {
  Family family("peerpath_gpu_info", "The GPUs of the self-test: PCI address, UUID and name.");
  for (const auto& gpu : run.gpus)
    family.add({{"device", gpu.bdf}, {"uuid", gpu.uuid}, {"name", gpu.name}}, 1);
  return family.text();
}

std::string pair_metrics(const gpu::SelftestReport& run) {
  Family verdict("peerpath_pair_verdict",
                 "1 with the self-test's verdict on each ordered pair of GPUs.");
  Family bandwidth("peerpath_pair_bandwidth_bytes_per_second",
                   "Bandwidth of copies from source to destination, alone on their links.");
  Family latency("peerpath_pair_load_latency_seconds",
                 "Time of one load by the source from the destination's memory.");
  for (const auto& pair : run.pairs) {
    const Labels labels{{"source", run.gpus.at(pair.source).bdf},
                        {"destination", run.gpus.at(pair.destination).bdf}};
    auto with_verdict = labels;
    with_verdict.push_back({"verdict", std::string(gpu::name_of(pair.verdict))});
    verdict.add(with_verdict, 1);
    if (pair.bytes_per_second) bandwidth.add(labels, *pair.bytes_per_second);
    if (pair.nanoseconds) latency.add(labels, *pair.nanoseconds / 1e9);
  }
  return verdict.text() + bandwidth.text() + latency.text();
}

std::string selftest_metrics(const gpu::SelftestReport& run) {
  Family outcome("peerpath_selftest_outcome",
                 "1 with what became of the self-test: tested, or why there was none.");
  outcome.add({{"outcome", std::string(name_of(run.outcome))}}, 1);
  Family duration("peerpath_selftest_duration_seconds", "How long the self-test took.");
  duration.add({}, static_cast<double>(run.took.count()) / 1e3);
  return outcome.text() + duration.text() + gpu_metric(run) + pair_metrics(run);
}

}  // namespace

std::string prometheus_text(const VerifyReport& report) {
  Family build("peerpath_build_info", "The version of the peerpath that made the report.");
  build.add({{"version", report.version}}, 1);
  Family time("peerpath_report_timestamp_seconds", "When the report was made, since 1970.");
  time.add({}, static_cast<double>(report.time));
  auto text =
      build.text() + time.text() + verdict_metric(report.verdict) + finding_metric(report.findings);
  if (report.selftest) text += selftest_metrics(report.selftest->run);
  return text;
}

}  // namespace peerpath::report
