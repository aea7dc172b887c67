// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/exit_status.hpp"
#include "base/result.hpp"
#include "sys/system.hpp"

#include <boost/program_options.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::cli {

namespace po = boost::program_options;

/// What a command gets from the outside world.
struct Invocation {
  const po::variables_map& options;
  bool colour = false;   ///< standard output takes it, and the user doesn't mind
  bool unicode = false;  ///< by the locale

  [[nodiscard]] bool flag(const char* name) const { return options.count(name) != 0; }
  [[nodiscard]] std::vector<std::string> list(const char* name) const;
  [[nodiscard]] std::string root() const;
  /// The absolute path of the file that this option, which must be there, names.
  [[nodiscard]] std::string file(const char* name) const;
};

/// What a command gives back: text for standard output, and the exit status.
struct Answer {
  std::string text;
  ExitStatus status = ExitStatus::good;
  /// Why there's no text: said as errors are, with this status instead of the error's own.
  std::optional<Error> instead = {};
  /// What went wrong beside that: said as errors are, and the status stays.
  std::optional<Error> beside = {};
};

/// A subcommand. Each is one file, cmd_<name>.cpp, listed in commands.cpp.
struct Command {
  std::string_view name;
  std::string_view arguments;  ///< after the options, in the usage line
  std::string_view summary;    ///< a line
  std::string_view details;    ///< a paragraph for --help
  void (*add_options)(po::options_description& options);
  int positional = 0;  ///< how many arguments it takes, as the option "argument"
  Result<Answer> (*run)(const Invocation& invocation);
};

/// Every subcommand, in the order of `peerpath --help`.
[[nodiscard]] std::span<const Command* const> all_commands();

// Options that several commands have, worded the same everywhere.
void add_root_option(po::options_description& options);
void add_verbose_option(po::options_description& options);
void add_json_option(po::options_description& options);

}  // namespace peerpath::cli
