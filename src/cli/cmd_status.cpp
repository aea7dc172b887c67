// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "check/next_boot.hpp"
#include "cli/boot_report_file.hpp"
#include "cli/commands.hpp"
#include "cli/gather.hpp"
#include "report/verify_report.hpp"

#include <fmt/format.h>

namespace peerpath::cli {
namespace {

/// As it is now, since `ensure` may have run after the report was made. No device is looked at.
bool is_armed(const System& system) {
  const auto facts = gather_facts(system, {});
  const auto boots = facts ? check::compare_boots(*facts) : std::nullopt;
  return boots && boots->armed();
}

constexpr std::string_view armed =
    "armed, not booted: passthrough is configured, and comes into force with a reboot";

Answer no_report(const System& system, std::string_view why) {
  const auto what = fmt::format("'{}' {}", report_path, why);
  return {"", ExitStatus::unknown,
          Error{Errc::not_found, is_armed(system) ? fmt::format("{}; {}", what, armed) : what}};
}

/// A report whose verdict isn't that of its findings isn't believed.
Result<> check_report(const report::VerifyReport& report) {
  const auto verdict = check::verdict(report.findings);
  if (report.verdict != verdict ||
      report.exit_status != static_cast<int>(exit_status_of(verdict))) {
    return fail(Errc::malformed,
                fmt::format("'{}' has another verdict than its findings: run 'peerpath boot-check'",
                            report_path));
  }
  return {};
}

void add_options(po::options_description& options) {
  add_verbose_option(options);
  add_json_option(options);
}

Result<Answer> run(const Invocation& invocation) {
  const auto system = System::open("/");
  if (!system) return fail(system.error());
  const auto json = (*system)->read(report_path);
  if (!json && json.error().code == Errc::not_found) {
    return no_report(**system, "isn't there: 'peerpath boot-check' hasn't run since the boot");
  }
  if (!json) return fail(json.error());
  const auto report = report::parse_report(*json, report_path);
  if (!report) return fail(report.error());
  const auto boot_id = (*system)->read("/proc/sys/kernel/random/boot_id");
  if (!boot_id) return fail(boot_id.error());
  if (report->boot_id != std::string(trim(*boot_id))) {
    return no_report(**system, "isn't from this boot: run 'peerpath boot-check'");
  }
  if (const auto good = check_report(*report); !good) return fail(good.error());
  const auto status = static_cast<ExitStatus>(report->exit_status);
  if (invocation.flag("json")) return Answer{*json, status};
  const auto first = is_armed(**system) ? fmt::format("{}\n", armed) : std::string();
  return Answer{first + report::to_text(*report, text_style(invocation)), status};
}

}  // namespace

const Command cmd_status{
    .name = "status",
    .arguments = "",
    .summary = "show the report of this boot's check",
    .details =
        "Prints what 'boot-check' found after this boot, and ends with its exit status; with 4 "
        "where "
        "there is no report of this boot.",
    .add_options = add_options,
    .run = run,
};

}  // namespace peerpath::cli
