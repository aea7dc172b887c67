// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of the page. Each gives markup, in which every text of the report's is escaped.
#pragma once

#include "check/finding.hpp"
#include "report/selftest_report.hpp"
#include "report/topology.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace peerpath::report {

/// Text between tags or in a quoted attribute: `printable`, and without meaning for HTML and XML.
/// Characters that turn the direction of writing are shown by their numbers: else they could make
/// a text look like another one.
[[nodiscard]] std::string escaped(std::string_view text);

/// "ok", …, "na": what the style sheet calls a status.
[[nodiscard]] std::string_view css_class(check::Status status);

/// "✓", "✗", "!", "?", "–": a status for those who see no colours.
[[nodiscard]] std::string_view symbol(check::Status status);

/// The symbol and the text, which is escaped, in the status' colours.
[[nodiscard]] std::string badge(check::Status status, std::string_view text);

/// A part that may be wider than the window, and then has a scroll bar of its own.
[[nodiscard]] std::string scrolling(std::string_view label, std::string_view markup);

/// How a mode is judged, and its words: "translated (DMA-FQ)".
[[nodiscard]] check::Status severity_of(check::Translation mode);
[[nodiscard]] std::string mode_words(const TopologyNode::Iommu& iommu);

[[nodiscard]] std::string_view html_style();
[[nodiscard]] std::string html_findings(const std::vector<check::Finding>& findings);
[[nodiscard]] std::string html_tree(const Topology& topology);
/// The same devices as tables, with what has no room in the drawing, and the redirect points.
[[nodiscard]] std::string html_devices(const Topology& topology);
[[nodiscard]] std::string html_selftest(const Selftest& selftest);
/// The matrices of verdict, bandwidth and latency.
[[nodiscard]] std::string html_matrices(const gpu::SelftestReport& run);

}  // namespace peerpath::report
