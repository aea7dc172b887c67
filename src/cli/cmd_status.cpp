// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "cli/boot_report_file.hpp"
#include "cli/commands.hpp"
#include "report/verify_report.hpp"

#include <fmt/format.h>

namespace peerpath::cli {
namespace {

Result<Answer> run(const Invocation& invocation) {
  const auto system = System::open("/");
  if (!system) return fail(system.error());
  const auto json = (*system)->read(report_path);
  if (!json && json.error().code == Errc::not_found) {
    return fail(Errc::not_found,
                fmt::format("'{}' isn't there: 'peerpath boot-check' hasn't run since the boot",
                            report_path));
  }
  if (!json) return fail(json.error());
  const auto report = report::parse_report(*json, report_path);
  if (!report) return fail(report.error());
  const auto boot_id = (*system)->read("/proc/sys/kernel/random/boot_id");
  if (boot_id && report->boot_id && trim(*boot_id) != *report->boot_id) {
    return fail(Errc::malformed,
                fmt::format("'{}' is from another boot: run 'peerpath boot-check'", report_path));
  }
  return Answer{
      invocation.flag("json") ? *json : report::to_text(*report, {.colour = invocation.colour}),
      static_cast<ExitStatus>(report->exit_status)};
}

}  // namespace

const Command cmd_status{
    .name = "status",
    .arguments = "",
    .summary = "show the report of this boot's check",
    .details = "Prints what 'boot-check' found after this boot, and ends with its exit status.",
    .add_options = add_json_option,
    .run = run,
};

}  // namespace peerpath::cli
