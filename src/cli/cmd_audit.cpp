// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/boot_command.hpp"
#include "cli/commands.hpp"

namespace peerpath::cli {
namespace {

void add_options(po::options_description& options) {
  add_root_option(options);
  options.add_options()("kernel", po::value<std::string>()->value_name("VER"),
                        "judge the entries of this kernel version only");
  add_json_option(options);
}

Result<Answer> run(const Invocation& invocation) {
  return run_boot_command(invocation, "audit", boot::audit);
}

}  // namespace

const Command cmd_audit{
    .name = "audit",
    .arguments = "",
    .summary = "tell in which IOMMU mode each installed kernel will boot",
    .details =
        "Reads the files that the boot loader itself will read, and prints for each kernel "
        "the mode and the word, file and line that decide it. Changes nothing.",
    .add_options = add_options,
    .run = run,
};

}  // namespace peerpath::cli
