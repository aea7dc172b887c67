// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands.hpp"
#include "cli/gather.hpp"
#include "cli/settings.hpp"

namespace peerpath::cli {
namespace {

void add_options(po::options_description& options) {
  add_root_option(options);
  options.add_options()("device", po::value<std::vector<std::string>>()->value_name("BDF"),
                        "check this PCI function, whatever it is (repeatable)")(
      "match", po::value<std::vector<std::string>>()->value_name("VENDOR:DEVICE[:CLASS]"),
      "check the PCI functions that match, instead of the settings' (repeatable)");
  add_json_option(options);
}

Result<Answer> run(const Invocation& invocation) {
  const auto system = System::open(invocation.root());
  if (!system) return fail(system.error());
  const auto settings = load_settings(**system);
  if (!settings) return fail(settings.error());
  const auto patterns = invocation.flag("match") ? invocation.list("match") : settings->match;
  const auto facts = gather_facts(**system, {invocation.list("device"), patterns});
  if (!facts) return fail(facts.error());
  const auto report =
      make_report(report::VerifyReport::Kind::verify, **system, *facts, run_checks(*facts));
  return Answer{invocation.flag("json") ? report::to_json(report)
                                        : report::to_text(report, {.colour = invocation.colour}),
                static_cast<ExitStatus>(report.exit_status)};
}

}  // namespace

const Command cmd_verify{
    .name = "verify",
    .arguments = "",
    .summary = "tell whether each GPU of the running machine is in passthrough, and why not",
    .details =
        "Reads what the kernel did for each GPU and why, and prints a finding for each "
        "check: evidence, cause, remedy. Changes nothing. Needs no root, but what can't be "
        "read is then unknown, never ok.",
    .add_options = add_options,
    .run = run,
};

}  // namespace peerpath::cli
