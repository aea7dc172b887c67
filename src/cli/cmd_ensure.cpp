// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/boot_command.hpp"
#include "cli/commands.hpp"

namespace peerpath::cli {
namespace {

void add_options(po::options_description& options) {
  add_root_option(options);
  options.add_options()("dry-run", "say what would be done, change nothing")(
      "force", "add the word even against a contrary one of the administrator's")(
      "kernel", po::value<std::string>()->value_name("VER"),
      "judge the entries of this kernel version only");
  add_json_option(options);
}

Result<Answer> run(const Invocation& invocation) {
  return run_boot_command(invocation, "ensure", boot::ensure);
}

}  // namespace

const Command cmd_ensure{
    .name = "ensure",
    .arguments = "",
    .summary = "make the next boot of every kernel use IOMMU passthrough",
    .details =
        "Adds 'iommu=pt' to the boot loader's settings, generates its configuration anew "
        "where that works, and judges every kernel's entry. A second run changes nothing.",
    .add_options = add_options,
    .run = run,
};

}  // namespace peerpath::cli
