// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "report/verify_report.hpp"

#include <string>

namespace peerpath::report {

/// The report as one page for a browser, with all that it needs inside: no script, nothing loaded.
/// It is well-formed XML, too. What came from the machine is text in it, never markup.
[[nodiscard]] std::string to_html(const VerifyReport& report);

}  // namespace peerpath::report
