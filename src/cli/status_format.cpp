// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/status_format.hpp"

#include "report/fleet.hpp"
#include "report/prometheus.hpp"

#include <optional>

namespace peerpath::cli {

bool is_status_format(std::string_view format) {
  return format == "npd" || format == "nfd" || format == "prometheus";
}

Answer formatted(std::string_view format, const Result<report::VerifyReport>& report,
                 ExitStatus without, std::int64_t now) {
  if (format == "npd") {
    // What else went wrong may be of any length; `peerpath status` tells it.
    const auto answer =
        report ? report::plugin_answer(*report)
               : report::plugin_answer(report.error().code == Errc::not_found
                                           ? "no report of this boot; the check may be running"
                                           : "the report can't be used: see 'peerpath status'");
    return {answer.line + "\n", static_cast<ExitStatus>(answer.status)};
  }
  if (format == "nfd") {
    const auto known = report ? std::optional(*report) : std::nullopt;
    return {report::feature_file(known, now), ExitStatus::good};
  }
  if (!report) return {"", without, report.error()};
  return {report::prometheus_text(*report), ExitStatus::good};
}

}  // namespace peerpath::cli
