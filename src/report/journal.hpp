// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "report/selftest_report.hpp"
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

/// One entry for each pair of GPUs that didn't pass the self-test, with the MESSAGE_ID of its
/// verdict's class and what is known in fields: PEERPATH_SRC, _DST, _TEST, _SIGNATURE, _SIZE,
/// _OFFSET (bytes), _REMEDY, a PEERPATH_KERNEL_LOG for each line of the kernel log. The summary
/// over all pairs is the entry of the finding p2p.selftest.
[[nodiscard]] std::vector<JournalEntry> pair_entries(const Selftest& selftest,
                                                     const std::string& version);

/// One entry for each finding, in the report's order, one for each pair that didn't pass, and a
/// summary at the end.
/// Fact: systemd.journal-fields(7); priorities as in syslog(3).
[[nodiscard]] std::vector<JournalEntry> journal_entries(const VerifyReport& report);

/// Hands the entries to the journal. Errors: not_found where no journal listens at the socket
/// (libsystemd drops entries silently then); those of sending. The first one ends it.
[[nodiscard]] Result<> send_to_journal(
    const std::vector<JournalEntry>& entries,
    const std::string& journal_socket = "/run/systemd/journal/socket");

}  // namespace peerpath::report
