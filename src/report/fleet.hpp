// SPDX-License-Identifier: GPL-2.0-or-later
// The report for the programs that look after many machines.
#pragma once

#include "report/verify_report.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace peerpath::report {

/// What a plugin of Node Problem Detector answers, and a health check of Slurm's may use.
struct PluginAnswer {
  /// Fact: kubernetes/node-problem-detector, pkg/custompluginmonitor/plugin/plugin.go: 0 is OK, 1
  /// a problem, everything else unknown. Only a report that failed is a problem.
  int status = 2;
  std::string line;  ///< without a line end, safe to print, at most 80 bytes
};

/// Fact: docs/custom_plugin_monitor.md there: longer messages are cut, by bytes, as the example's
/// max_output_length of 80 has it.
inline constexpr std::size_t plugin_line_limit = 80;

/// The verdict with the finding that it's from, the first of the worst, and how many more such
/// there are: "fail: iommu.group-type 0000:3b:00.0 (+1 more)".
[[nodiscard]] PluginAnswer plugin_answer(const VerifyReport& report);

/// Where there's no report to go by: unknown, and `why`, never a problem nor OK.
[[nodiscard]] PluginAnswer plugin_answer(std::string_view why);

/// A feature file for the local source of Node Feature Discovery, with labels of the verdict and of
/// the self-test; both are `unknown` without a report of this boot. `now` is in seconds since 1970:
/// the file says that it's out of date 15 minutes later, for it outlives the boot that it's about.
/// Fact: kubernetes-sigs/node-feature-discovery, docs/usage/customization-guide.md, "Input format".
[[nodiscard]] std::string feature_file(const std::optional<VerifyReport>& report, std::int64_t now);

}  // namespace peerpath::report
