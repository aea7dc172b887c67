// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/boot_report_file.hpp"
#include "cli/commands.hpp"
#include "cli/gather.hpp"
#include "cli/progress.hpp"
#include "cli/run_selftest.hpp"
#include "cli/selftest_finding.hpp"
#include "cli/settings.hpp"
#include "cmdline/tokenise.hpp"
#include "report/journal.hpp"
#include "report/prometheus.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace peerpath::cli {
namespace {

void add_options(po::options_description& options) {
  options.add_options()(
      "match", po::value<std::vector<std::string>>()->value_name("VENDOR:DEVICE[:CLASS]"),
      "check the PCI functions that match, instead of the settings' (repeatable)")(
      "no-journal", "don't write to the journal");
  add_json_option(options);
}

/// `peerpath=off` on the kernel's command line: an administrator's way past the check at boot.
bool is_switched_off(const check::Facts& facts) {
  if (!facts.command_line) return false;
  const auto tokens = cmdline::tokenise(*facts.command_line);
  return std::any_of(tokens.begin(), tokens.end(), [](const cmdline::Token& token) {
    return token.name == "peerpath" && token.value == "off";
  });
}

Result<> write_report(const System& system, const report::VerifyReport& report) {
  if (!system.exists(report_directory)) {
    if (auto made = system.make_directory(report_directory); !made) return made;
  }
  return system.write(report_path, report::to_json(report));
}

/// What an earlier check left isn't true any more, and this one may take minutes or never end.
/// Where the file can't be removed it can't be written, which is said then.
void remove_metrics(const System& system, const Settings& settings) {
  if (settings.prometheus_textfile.empty()) return;
  static_cast<void>(system.remove_file(settings.prometheus_textfile));
}

/// The metrics are a copy of what's in the report: that they couldn't be written is said, and is
/// nothing of the GPUs'.
std::optional<Error> write_metrics(const System& system, const Settings& settings,
                                   const report::VerifyReport& report) {
  if (settings.prometheus_textfile.empty()) return std::nullopt;
  const auto written = system.write(settings.prometheus_textfile, report::prometheus_text(report));
  if (written) return std::nullopt;
  return Error(written.error())
      .while_doing(
          "writing the metrics (the directory must exist, and the service's "
          "ReadWritePaths= name it: see peerpath.conf(5))");
}

/// Nothing where the settings turn it off.
std::shared_ptr<const report::Selftest> test_pairs(const System& system, const check::Facts& facts,
                                                   const Settings& settings) {
  if (!settings.selftest) return nullptr;
  SelftestChoice choice;
  choice.depth = *settings.selftest;
  choice.budget = settings.selftest_budget;
  ProgressBar bar;
  choice.progress = [&](const gpu::Progress& progress) { bar.show(progress); };
  return std::make_shared<report::Selftest>(run_selftest(system, facts, choice));
}

Result<Answer> run(const Invocation& invocation) {
  const auto system = System::open("/");
  if (!system) return fail(system.error());
  const auto settings = load_settings(**system);
  if (!settings) return fail(settings.error());
  remove_metrics(**system, *settings);
  const auto patterns = invocation.flag("match") ? invocation.list("match") : settings->match;
  const auto facts = gather_facts(**system, {{}, patterns, settings->rdma_nics});
  if (!facts) return fail(facts.error());
  if (is_switched_off(*facts)) {
    return Answer{"peerpath=off on the kernel's command line: not checked\n",
                  ExitStatus::not_applicable};
  }

  auto findings = run_checks(*facts);
  auto selftest = test_pairs(**system, *facts, *settings);
  if (selftest) weigh_by_selftest(findings, *facts, *selftest);
  findings.push_back(selftest ? selftest_finding(*selftest) : selftest_is_off());
  auto report =
      make_report(report::VerifyReport::Kind::boot_check, **system, *facts, std::move(findings));
  report.selftest = std::move(selftest);
  // The journal first: it's what's left when the report can't be written.
  if (!invocation.flag("no-journal")) {
    auto sent = report::send_to_journal(report::journal_entries(report));
    if (!sent) return fail(std::move(sent.error()).while_doing("writing to the journal"));
  }
  if (const auto written = write_report(**system, report); !written) return fail(written.error());
  return Answer{invocation.flag("json") ? report::to_json(report)
                                        : report::to_text(report, text_style(invocation)),
                static_cast<ExitStatus>(report.exit_status), std::nullopt,
                write_metrics(**system, *settings, report)};
}

}  // namespace

const Command cmd_boot_check{
    .name = "boot-check",
    .arguments = "",
    .summary = "what the service runs after boot: verify, selftest, journal, report",
    .details =
        "Runs the checks of 'verify' and then the self-test of each two GPUs, writes each "
        "finding to the journal and the whole to /run/peerpath/report.json. The word "
        "'peerpath=off' on the kernel's command line skips it.",
    .add_options = add_options,
    .run = run,
};

}  // namespace peerpath::cli
