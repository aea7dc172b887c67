// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/exit_status.hpp"
#include "base/result.hpp"
#include "check/facts.hpp"
#include "check/finding.hpp"
#include "cli/command.hpp"
#include "report/verify_report.hpp"
#include "sys/system.hpp"

#include <string>
#include <vector>

namespace peerpath::cli {

/// Which devices are to be checked.
struct DeviceChoice {
  std::vector<std::string> addresses;  ///< these, where there are any
  std::vector<std::string> patterns;   ///< or else those that match
  bool rdma_nics = false;              ///< and every RDMA network adapter
};

/// Errors: usage, naming the pattern.
[[nodiscard]] Result<std::vector<probe::PciMatch>> parse_patterns(
    const std::vector<std::string>& patterns);

/// Reads all that the checks may look at. Errors: usage for a pattern or an address that's none,
/// or that names no device; what can't be read is a fact of its own, not an error.
[[nodiscard]] Result<check::Facts> gather_facts(const System& system, const DeviceChoice& choice);

/// Runs every check.
[[nodiscard]] std::vector<check::Finding> run_checks(const check::Facts& facts);

/// What a command with this verdict ends with.
[[nodiscard]] ExitStatus exit_status_of(check::Status verdict);

/// How the user wants a report's text.
[[nodiscard]] report::TextStyle text_style(const Invocation& invocation);

/// The report of these findings, with its verdict and the exit status that goes with it.
[[nodiscard]] report::VerifyReport make_report(report::VerifyReport::Kind kind,
                                               const System& system, const check::Facts& facts,
                                               std::vector<check::Finding> findings);

}  // namespace peerpath::cli
