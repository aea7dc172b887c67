// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/boot_command.hpp"

#include "cli/settings.hpp"
#include "report/boot_report.hpp"

namespace peerpath::cli {

Result<Answer> run_boot_command(const Invocation& invocation,
                                Result<boot::Outcome> (*operation)(const System&,
                                                                   const boot::Options&)) {
  const auto system = System::open(invocation.root());
  if (!system) return fail(system.error());
  const auto settings = load_settings(**system);
  if (!settings) return fail(settings.error());
  boot::Options options;
  options.dry_run = invocation.flag("dry-run");
  options.force = invocation.flag("force");
  options.arm64_passthrough = settings->arm64_passthrough;
  if (invocation.flag("kernel")) options.kernel = invocation.options["kernel"].as<std::string>();
  const auto outcome = operation(**system, options);
  if (!outcome) return fail(outcome.error());
  return Answer{invocation.flag("json") ? report::boot_json(*outcome)
                                        : report::boot_text(*outcome, invocation.colour),
                outcome->status};
}

}  // namespace peerpath::cli
