// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "report/verify_report.hpp"

#include <string>
#include <vector>

namespace peerpath::report {

struct JournalField {
  std::string name;
  std::string value;  ///< safe to print
};

/// One entry. A name may come several times: each piece of evidence adds a PEERPATH_SOURCE, a
/// PEERPATH_OBSERVED and a PEERPATH_EXPECTED. The journal may reorder them.
using JournalEntry = std::vector<JournalField>;

/// One entry for each finding, in the report's order, and a summary at the end.
/// Fact: systemd.journal-fields(7); priorities as in syslog(3).
[[nodiscard]] std::vector<JournalEntry> journal_entries(const VerifyReport& report);

/// Hands the entries to the journal. Errors: not_found where no journal listens at the socket
/// (libsystemd drops entries silently then); those of sending. The first one ends it.
[[nodiscard]] Result<> send_to_journal(
    const std::vector<JournalEntry>& entries,
    const std::string& journal_socket = "/run/systemd/journal/socket");

}  // namespace peerpath::report
