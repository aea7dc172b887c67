// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/boot_command.hpp"

#include "cli/next_boot.hpp"
#include "cli/settings.hpp"
#include "report/boot_report.hpp"
#include "sys/process.hpp"

namespace peerpath::cli {
namespace {

/// What the machine's disks and modules say besides what the boot loader's files do.
void add_notes(const System& system, BeforeBootCommand&& before, boot::Outcome& outcome) {
  const auto add = [&](std::vector<std::string> notes) {
    for (auto& note : notes)
      outcome.messages.push_back(std::move(note));
  };
  add(std::move(before.notes));
  if (outcome.boot_loader.empty()) add(unmounted_in_fstab(system));
  const bool could_not_tell =
      outcome.status == ExitStatus::unknown || outcome.status == ExitStatus::unsupported;
  if (could_not_tell && !is_superuser()) {
    outcome.messages.emplace_back("only root may read all of it: try again as root");
  }
  if (outcome.status == ExitStatus::not_applicable) return;
  if (outcome.command == "audit") add(driver_notes(system, outcome));
}

}  // namespace

Result<Answer> run_boot_command(const Invocation& invocation, std::string_view command,
                                Result<boot::Outcome> (*operation)(const System&,
                                                                   const boot::Options&)) {
  const auto system = System::open(invocation.root());
  if (!system) return fail(system.error());
  // To take back what was done needs none: a mistake in them must not be in the way.
  const auto settings =
      command == "revert" ? Result<Settings>(Settings{}) : load_settings(**system);
  if (!settings) return fail(settings.error());
  boot::Options options;
  options.dry_run = invocation.flag("dry-run");
  options.force = invocation.flag("force");
  options.arm64_passthrough = settings->arm64_passthrough;
  options.uki_addon = settings->uki_addon;
  options.secure_boot_key = settings->secure_boot_key;
  options.secure_boot_certificate = settings->secure_boot_certificate;
  if (invocation.flag("kernel")) options.kernel = invocation.options["kernel"].as<std::string>();
  const auto answer = [&](const boot::Outcome& outcome) {
    return Answer{invocation.flag("json") ? report::boot_json(outcome)
                                          : report::boot_text(outcome, invocation.colour),
                  outcome.status};
  };
  auto before = look_before(**system, command, options);
  if (!before) return fail(before.error());
  if (before->refusal) return answer(*before->refusal);
  if (command != "revert") options.unmounted = find_unmounted(**system).messages;
  auto outcome = operation(**system, options);
  if (!outcome) return fail(outcome.error());
  add_notes(**system, std::move(*before), *outcome);
  return answer(*outcome);
}

}  // namespace peerpath::cli
