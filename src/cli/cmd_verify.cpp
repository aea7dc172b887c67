// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands.hpp"
#include "cli/gather.hpp"
#include "cli/gather_dump.hpp"
#include "cli/settings.hpp"

#include <fmt/format.h>

namespace peerpath::cli {
namespace {

void add_options(po::options_description& options) {
  add_root_option(options);
  options.add_options()("device", po::value<std::vector<std::string>>()->value_name("BDF"),
                        "check this PCI function, whatever it is (repeatable)")(
      "match", po::value<std::vector<std::string>>()->value_name("VENDOR:DEVICE[:CLASS]"),
      "check the PCI functions that match, instead of the settings' (repeatable)")(
      "rdma-nics", "check RDMA network adapters, too")(
      "lspci", po::value<std::string>()->value_name("FILE"),
      "judge PCI Express by the text of 'lspci -xxxx', not this machine");
  add_verbose_option(options);
  add_json_option(options);
}

Result<report::VerifyReport> verify_machine(const System& system, const DeviceChoice& choice) {
  const auto facts = gather_facts(system, choice);
  if (!facts) return fail(facts.error());
  return make_report(report::VerifyReport::Kind::verify, system, *facts, run_checks(*facts));
}

Result<report::VerifyReport> verify_dump(const System& system, const std::string& file,
                                         const DeviceChoice& choice) {
  const auto facts = gather_dump_facts(system, file, choice);
  if (!facts) return fail(facts.error());
  auto report = make_report(report::VerifyReport::Kind::verify, system, *facts,
                            run_dump_checks(*facts, file));
  report.note = fmt::format("only PCI Express was judged, from {}", file);
  return report;
}

Result<Answer> run(const Invocation& invocation) {
  const bool is_dump = invocation.flag("lspci");
  for (const auto* other : {"root", "rdma-nics"}) {
    if (is_dump && invocation.flag(other)) {
      return fail(Errc::usage, fmt::format("verify: --lspci and --{} exclude each other", other));
    }
  }
  const auto system = System::open(invocation.root());
  if (!system) return fail(system.error());
  const auto settings = load_settings(**system);
  if (!settings) return fail(settings.error());
  const auto patterns = invocation.flag("match") ? invocation.list("match") : settings->match;
  const DeviceChoice choice{invocation.list("device"), patterns,
                            settings->rdma_nics || invocation.flag("rdma-nics")};
  const auto made = is_dump ? verify_dump(**system, invocation.file("lspci"), choice)
                            : verify_machine(**system, choice);
  if (!made) return fail(made.error());
  const auto& report = *made;
  return Answer{invocation.flag("json") ? report::to_json(report)
                                        : report::to_text(report, text_style(invocation)),
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
