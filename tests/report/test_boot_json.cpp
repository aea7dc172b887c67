// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/boot_report.hpp"
#include "report/error_report.hpp"
#include "support/catch.hpp"
#include "support/json_schema.hpp"

using namespace peerpath;
using nlohmann::json;

namespace {

boot::Outcome full_outcome() {
  boot::Outcome outcome;
  outcome.command = "ensure";
  outcome.root = "/";
  outcome.boot_loader = "grub-dropin";
  outcome.result = "conflict";
  outcome.status = ExitStatus::conflict;
  outcome.deferred = "no device for the root file system";
  outcome.conflict = boot::Conflict{"iommu=nopt", "/etc/default/grub", 6};
  boot::JudgedEntry judged;
  judged.entry.title = "Debian \xff";
  judged.entry.kernel = "/boot/vmlinuz-6.1.0-35-amd64";
  judged.entry.command_lines = {"quiet iommu=pt iommu=nopt"};
  judged.entry.line = 120;
  judged.mode = cmdline::Mode::translated;
  judged.judgement.decided_by = cmdline::Word{"iommu=nopt"};
  judged.judgement.ignored = {{cmdline::Word{"iommu=pt"}, "overridden by 'iommu=nopt'"}};
  outcome.entries = {judged, {}};
  outcome.changes = {{"/etc/default/grub.d/zz-peerpath.cfg", "write"}};
  outcome.messages = {"nothing was changed"};
  return outcome;
}

}  // namespace

TEST_CASE("boot_json: outcomes, full and empty → as the schema says") {
  const auto schema = JsonSchema::shipped("boot");
  boot::Outcome smallest;
  smallest.command = "audit";
  for (const auto& outcome : {full_outcome(), smallest}) {
    const auto document = json::parse(report::boot_json(outcome));
    CHECK(schema.flaws(document) == std::vector<std::string>{});
  }
}

TEST_CASE("error_json: an error → as the schema says") {
  const auto text = report::error_json(
      "verify", Error{Errc::denied, "'/proc/cmdline': permission denied"}, ExitStatus::failed);
  const auto document = json::parse(text);
  CHECK(JsonSchema::shipped("error").flaws(document) == std::vector<std::string>{});
  CHECK(document["error"] == "'/proc/cmdline': permission denied");
}

TEST_CASE("boot_text: deferred → the last line says that nothing is in force yet") {
  auto outcome = full_outcome();
  outcome.status = ExitStatus::good;
  outcome.result = "deferred";
  CHECK(report::boot_text(outcome, false)
            .ends_with("\nensure: deferred: not in force until that has run\n"));
  // Not green: it isn't what was asked for.
  CHECK(report::boot_text(outcome, true).find("\x1b[31mdeferred") != std::string::npos);
  outcome.command = "revert";
  CHECK(report::boot_text(outcome, false)
            .ends_with("\nrevert: deferred: still in force until that has run\n"));
  outcome.result = "unchanged";
  CHECK(report::boot_text(outcome, false).ends_with("\nrevert: unchanged\n"));
}

TEST_CASE("boot_text: a reboot is to come → ensure says that it's armed, where that is known") {
  auto outcome = full_outcome();
  outcome.reboot_required = true;
  outcome.status = ExitStatus::good;
  outcome.result = "changed";
  CHECK(report::boot_text(outcome, false)
            .ends_with("\nensure: changed, armed, not booted: reboot to put it in force\n"));
  outcome.status = ExitStatus::unknown;
  CHECK(report::boot_text(outcome, false)
            .ends_with("\nensure: changed, reboot to put it in force\n"));
  outcome.status = ExitStatus::good;
  outcome.command = "revert";
  CHECK(report::boot_text(outcome, false)
            .ends_with("\nrevert: changed, reboot to put it in force\n"));
}
