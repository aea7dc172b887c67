// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands.hpp"

#include "cli/command.hpp"

#include <array>
#include <filesystem>

namespace peerpath::cli {

std::span<const Command* const> all_commands() {
  static constexpr std::array all{&cmd_ensure,     &cmd_revert, &cmd_audit,
                                  &cmd_verify,     &cmd_record, &cmd_selftest,
                                  &cmd_boot_check, &cmd_status, &cmd_explain};
  return all;
}

std::vector<std::string> Invocation::list(const char* name) const {
  if (options.count(name) == 0) return {};
  return options[name].as<std::vector<std::string>>();
}

std::string Invocation::root() const {
  return options.count("root") != 0 ? options["root"].as<std::string>() : "/";
}

std::string Invocation::file(const char* name) const {
  return std::filesystem::absolute(options[name].as<std::string>()).string();
}

void add_root_option(po::options_description& options) {
  options.add_options()("root", po::value<std::string>()->value_name("DIR"),
                        "work on the system whose root is DIR, not on this one");
}

void add_verbose_option(po::options_description& options) {
  options.add_options()("verbose,v", "print the evidence of good findings, too");
}

void add_json_option(po::options_description& options) {
  options.add_options()("json", "print one JSON document");
}

}  // namespace peerpath::cli
