// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/explain.hpp"
#include "report/journal.hpp"
#include "report/sample_report.hpp"
#include "support/catch.hpp"

using namespace peerpath;
using namespace peerpath::report;
using check::Status;

namespace {

std::vector<std::string> values(const JournalEntry& entry, const std::string& name) {
  std::vector<std::string> found;
  for (const auto& field : entry) {
    if (field.name == name) found.push_back(field.value);
  }
  return found;
}

std::string value(const JournalEntry& entry, const std::string& name) {
  const auto found = values(entry, name);
  return found.size() == 1 ? found.front() : "(" + std::to_string(found.size()) + " values)";
}

}  // namespace

TEST_CASE("journal_entries: a report → an entry for each finding and a summary") {
  const auto report = sample_report();
  const auto entries = journal_entries(report);
  REQUIRE(entries.size() == report.findings.size() + 1);
  for (std::size_t i = 0; i < report.findings.size(); ++i)
    CHECK(value(entries[i], "PEERPATH_CHECK") == report.findings[i].id);
}

TEST_CASE("journal_entries: a failed finding → all that is known, in fields") {
  const auto entry = journal_entries(sample_report())[2];
  CHECK(value(entry, "MESSAGE") ==
        "fail: iommu.group-type 0000:3b:00.0: /sys/kernel/iommu_groups/15/type: DMA-FQ (expected "
        "identity): the kernel translates the device's DMA");
  CHECK(value(entry, "MESSAGE_ID") == find_record("iommu.group-type")->message_id);
  CHECK(value(entry, "PRIORITY") == "3");
  CHECK(value(entry, "PEERPATH_CHECK") == "iommu.group-type");
  CHECK(value(entry, "PEERPATH_STATUS") == "fail");
  CHECK(value(entry, "PEERPATH_DEVICE") == "0000:3b:00.0");
  CHECK(value(entry, "PEERPATH_SOURCE") == "/sys/kernel/iommu_groups/15/type");
  CHECK(value(entry, "PEERPATH_OBSERVED") == "DMA-FQ");
  CHECK(value(entry, "PEERPATH_EXPECTED") == "identity");
  CHECK(value(entry, "PEERPATH_CAUSE") == "the kernel translates the device's DMA");
  CHECK(value(entry, "PEERPATH_REMEDY") == "run 'peerpath ensure' and reboot");
  CHECK(value(entry, "PEERPATH_VERSION") == "0.1.0");
  CHECK(value(entry, "OBJECT_SYSTEMD_UNIT") == "peerpath-boot-check.service");
}

TEST_CASE("journal_entries: each status → its priority") {
  const auto entries = journal_entries(sample_report());
  CHECK(value(entries[0], "PRIORITY") == "6");  // ok
  CHECK(value(entries[1], "PRIORITY") == "6");  // not applicable
  CHECK(value(entries[2], "PRIORITY") == "3");  // fail
  CHECK(value(entries[3], "PRIORITY") == "4");  // warn
  CHECK(value(entries[5], "PRIORITY") == "4");  // unknown
}

TEST_CASE("journal_entries: what a finding hasn't got → no field") {
  const auto entry = journal_entries(sample_report())[0];
  CHECK(values(entry, "PEERPATH_DEVICE").empty());
  CHECK(values(entry, "PEERPATH_EXPECTED").empty());
  CHECK(values(entry, "PEERPATH_CAUSE").empty());
  CHECK(values(entry, "PEERPATH_REMEDY").empty());
}

TEST_CASE("journal_entries: several pieces of evidence → each in the fields") {
  auto report = sample_report();
  report.findings[0].evidence.push_back({"/proc/bootconfig", "empty", ""});
  const auto entry = journal_entries(report)[0];
  CHECK(values(entry, "PEERPATH_SOURCE") ==
        std::vector<std::string>{"/proc/cmdline", "/proc/bootconfig"});
  CHECK(values(entry, "PEERPATH_OBSERVED") == std::vector<std::string>{"iommu=nopt", "empty"});
}

TEST_CASE("journal_entries: the summary → verdict and counts, by its own id") {
  const auto entry = journal_entries(sample_report()).back();
  CHECK(value(entry, "MESSAGE") ==
        "verdict fail: 2 fail, 1 unknown, 1 warn, 1 ok, 1 not-applicable");
  CHECK(value(entry, "MESSAGE_ID") == find_record("peerpath.boot-check")->message_id);
  CHECK(value(entry, "PEERPATH_VERDICT") == "fail");
  CHECK(value(entry, "PRIORITY") == "3");
}

TEST_CASE("journal_entries: control bytes from outside → made safe to print") {
  auto report = sample_report();
  report.findings[0].evidence[0].observed = "a\nPRIORITY=0\033[2J";
  const auto entry = journal_entries(report)[0];
  CHECK(value(entry, "PEERPATH_OBSERVED") == "a\\x0aPRIORITY=0\\x1b[2J");
  CHECK(value(entry, "MESSAGE").find('\n') == std::string::npos);
}

TEST_CASE("journal_entries: an id without a record → no MESSAGE_ID") {
  VerifyReport report;
  report.findings = {check::Finding{"no.such-id", Status::ok}};
  CHECK(values(journal_entries(report)[0], "MESSAGE_ID").empty());
}

TEST_CASE("send_to_journal: no journal → an error that names the socket") {
  const auto sent = send_to_journal(journal_entries(sample_report()), "/nonexistent/socket");
  REQUIRE_FALSE(sent.has_value());
  CHECK(sent.error().code == Errc::not_found);
  CHECK(sent.error().text() ==
        "writing to the journal: '/nonexistent/socket': no such file or directory");
}
