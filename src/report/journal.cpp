// SPDX-License-Identifier: GPL-2.0-or-later
// The place in our source is no use in an entry, and the build's path isn't the same everywhere.
#define SD_JOURNAL_SUPPRESS_LOCATION

#include "report/journal.hpp"

#include "base/shared_library.hpp"
#include "base/text.hpp"
#include "report/explain.hpp"
#include "report/layout.hpp"

#include <fmt/format.h>
#include <systemd/sd-journal.h>

#include <array>
#include <cerrno>
#include <syslog.h>
#include <unistd.h>

namespace peerpath::report {
namespace {

using check::Finding;
using check::Status;

constexpr auto note_text =
    std::to_array(R"([{"feature":"journal","description":"Writes findings to the journal",)"
                  R"("priority":"required","soname":["libsystemd.so.0"]}])");
[[gnu::used,
  gnu::section(".note.dlopen")]] alignas(4) constexpr DlopenNote<note_text.size()> dlopen_note{
    .text = note_text};

using Sendv = decltype(&::sd_journal_sendv);

constexpr std::string_view summary_id = "peerpath.boot-check";

int priority_of(Status status) {
  switch (status) {
    case Status::fail:
      return LOG_ERR;
    case Status::unknown:
    case Status::warn:
      return LOG_WARNING;
    case Status::ok:
    case Status::not_applicable:
      break;
  }
  return LOG_INFO;
}

/// Leaves out what is empty: a field without a value only clutters.
void add(JournalEntry& entry, std::string_view name, std::string_view value) {
  if (!value.empty()) entry.push_back({std::string(name), printable(value)});
}

JournalEntry begin_entry(std::string_view id, Status status, const std::string& message) {
  JournalEntry entry;
  add(entry, "MESSAGE", message);
  if (const auto* record = find_record(id)) add(entry, "MESSAGE_ID", record->message_id);
  add(entry, "PRIORITY", std::to_string(priority_of(status)));
  // The journal finds out a sender's unit by its process, which may have ended by then. This field
  // has `journalctl -u peerpath` show the entry all the same (systemd.journal-fields(7)).
  add(entry, "OBJECT_SYSTEMD_UNIT", "peerpath-boot-check.service");
  add(entry, "PEERPATH_CHECK", id);
  add(entry, "PEERPATH_STATUS", name_of(status));
  return entry;
}

/// One line that says it all to whoever reads the journal without its fields.
std::string message_of(const Finding& finding) {
  auto message = fmt::format("{}: {}", name_of(finding.status), finding.id);
  if (finding.device) message += " " + *finding.device;
  if (finding.peer) message += " – " + *finding.peer;
  if (!finding.evidence.empty()) message += ": " + evidence_line(finding.evidence.front());
  if (!finding.cause.empty()) message += ": " + finding.cause;
  return message;
}

JournalEntry entry_of(const Finding& finding, const VerifyReport& report) {
  auto entry = begin_entry(finding.id, finding.status, message_of(finding));
  if (finding.device) add(entry, "PEERPATH_DEVICE", *finding.device);
  if (finding.peer) add(entry, "PEERPATH_PEER", *finding.peer);
  for (const auto& evidence : finding.evidence) {
    add(entry, "PEERPATH_SOURCE", evidence.source);
    add(entry, "PEERPATH_OBSERVED", evidence.observed);
    add(entry, "PEERPATH_EXPECTED", evidence.expected);
  }
  add(entry, "PEERPATH_CAUSE", finding.cause);
  add(entry, "PEERPATH_REMEDY", finding.remedy);
  add(entry, "PEERPATH_VERSION", report.version);
  return entry;
}

/// One line: "corruption: 0000:3b:00.0 -> 0000:86:00.0 in ce-write: zeros at offset 0: why".
std::string message_of(const gpu::PairReport& pair, const std::string& from,
                       const std::string& to) {
  auto message = fmt::format("{}: {} -> {}", name_of(pair.verdict), from, to);
  if (pair.failed_test) message += fmt::format(" in {}", name_of(*pair.failed_test));
  if (pair.signature != gpu::Signature::none) {
    message += fmt::format(": {}", name_of(pair.signature));
  }
  if (!pair.reason.empty()) message += ": " + pair.reason;
  return message;
}

JournalEntry entry_of(const Selftest& selftest, std::size_t index, const std::string& version) {
  const auto& pair = selftest.run.pairs[index];
  const auto& from = selftest.run.gpus.at(pair.source);
  const auto& to = selftest.run.gpus.at(pair.destination);
  auto entry = begin_entry(record_id_of(pair.verdict), severity_of(pair.verdict),
                           message_of(pair, from.bdf, to.bdf));
  add(entry, "PEERPATH_VERDICT", name_of(pair.verdict));
  add(entry, "PEERPATH_SRC", from.bdf);
  add(entry, "PEERPATH_DST", to.bdf);
  add(entry, "PEERPATH_SRC_UUID", from.uuid);
  add(entry, "PEERPATH_DST_UUID", to.uuid);
  if (pair.failed_test) add(entry, "PEERPATH_TEST", name_of(*pair.failed_test));
  if (pair.signature != gpu::Signature::none) {
    add(entry, "PEERPATH_SIGNATURE", name_of(pair.signature));
  }
  if (const auto* deciding = deciding_result(pair)) {
    const auto& result = deciding->result;
    add(entry, "PEERPATH_SIZE", std::to_string(result.bytes));
    if (result.bad_words > 0) add(entry, "PEERPATH_OFFSET", std::to_string(result.first_bad));
  }
  const auto faults = selftest.faults.find(index);
  if (faults != selftest.faults.end()) {
    for (const auto& line : faults->second)
      add(entry, "PEERPATH_KERNEL_LOG", line);
  }
  add(entry, "PEERPATH_CAUSE", pair.reason);
  add(entry, "PEERPATH_REMEDY", remedy_of(pair.verdict, pair.signature));
  add(entry, "PEERPATH_VERSION", version);
  return entry;
}

JournalEntry summary_of(const VerifyReport& report) {
  auto entry =
      begin_entry(summary_id, report.verdict,
                  fmt::format("verdict {}: {}", name_of(report.verdict), counts(report.findings)));
  add(entry, "PEERPATH_VERDICT", name_of(report.verdict));
  add(entry, "PEERPATH_VERSION", report.version);
  return entry;
}

Result<Sendv> load_sendv() {
  auto library = SharedLibrary::load("libsystemd.so.0");
  if (!library) return fail(library.error());
  Sendv sendv = nullptr;
  library->find("sd_journal_sendv", sendv);
  if (const auto whole = library->has_all(); !whole) return fail(whole.error());
  return sendv;
}

int send(const JournalEntry& entry, Sendv sendv) {
  std::vector<std::string> fields;
  for (const auto& field : entry)
    fields.push_back(field.name + "=" + field.value);
  std::vector<iovec> parts;
  for (auto& field : fields)
    parts.push_back({field.data(), field.size()});
  return sendv(parts.data(), static_cast<int>(parts.size()));
}

}  // namespace

std::vector<JournalEntry> pair_entries(const Selftest& selftest, const std::string& version) {
  std::vector<JournalEntry> entries;
  for (std::size_t i = 0; i < selftest.run.pairs.size(); ++i) {
    if (selftest.run.pairs[i].verdict != gpu::Verdict::passed) {
      entries.push_back(entry_of(selftest, i, version));
    }
  }
  return entries;
}

std::vector<JournalEntry> journal_entries(const VerifyReport& report) {
  std::vector<JournalEntry> entries;
  for (const auto& finding : report.findings)
    entries.push_back(entry_of(finding, report));
  if (report.selftest) {
    for (auto& entry : pair_entries(*report.selftest, report.version))
      entries.push_back(std::move(entry));
  }
  entries.push_back(summary_of(report));
  return entries;
}

Result<> send_to_journal(const std::vector<JournalEntry>& entries,
                         const std::string& journal_socket) {
  if (::access(journal_socket.c_str(), F_OK) != 0) {
    return fail(
        system_error(errno, "'" + journal_socket + "'").while_doing("writing to the journal"));
  }
  const auto sendv = load_sendv();
  if (!sendv) return fail(Error(sendv.error()).while_doing("writing to the journal"));
  for (const auto& entry : entries) {
    if (const int error = send(entry, *sendv); error < 0) {
      return fail(
          system_error(-error, "'" + journal_socket + "'").while_doing("writing to the journal"));
    }
  }
  return {};
}

}  // namespace peerpath::report
