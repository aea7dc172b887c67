// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "report/verify_report.hpp"

#include <string>

namespace peerpath::report {

/// The report as metrics in Prometheus' text format, for node-exporter's textfile collector.
/// Facts: prometheus.io/docs/instrumenting/exposition_formats and …/practices/naming: base units,
/// states as labels of gauges that are 1. No sample has a timestamp of its own and none comes
/// twice: the collector refuses the file for either. The boot's id is no label, for each boot would
/// begin new series; `peerpath_report_timestamp_seconds` beside `node_boot_time_seconds` tells
/// whether the report is of this boot.
[[nodiscard]] std::string prometheus_text(const VerifyReport& report);

}  // namespace peerpath::report
