// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/boot_command.hpp"
#include "cli/commands.hpp"

namespace peerpath::cli {
namespace {

void add_options(po::options_description& options) {
  add_root_option(options);
  options.add_options()("dry-run", "say what would be done, change nothing");
  add_json_option(options);
}

Result<Answer> run(const Invocation& invocation) {
  return run_boot_command(invocation, "revert", boot::revert);
}

}  // namespace

const Command cmd_revert{
    .name = "revert",
    .arguments = "",
    .summary = "take away exactly what 'ensure' added",
    .details =
        "Removes what 'ensure' wrote and generates the boot loader's configuration anew "
        "where that works. Words that were there before stay.",
    .add_options = add_options,
    .run = run,
};

}  // namespace peerpath::cli
