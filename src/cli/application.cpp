// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/application.hpp"

#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"
#include "report/error_report.hpp"
#include "sys/process.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <langinfo.h>
#include <optional>
#include <ostream>

namespace peerpath::cli {
namespace {

std::string general_help() {
  std::string text =
      "Usage: peerpath COMMAND [OPTION]...\n"
      "       peerpath --help | --version\n\n"
      "Makes a Linux host ready for GPU peer-to-peer over PCIe, and proves it.\n\n"
      "Commands:\n";
  for (const auto* command : all_commands()) {
    text += fmt::format("  {:<11} {}\n", command->name, command->summary);
  }
  return text +
         "\n'peerpath COMMAND --help' tells more. Exit status: 0 good, 1 the command failed,\n"
         "2 usage, 3 a check failed, 4 could not tell, 5 an administrator's setting is contrary,\n"
         "6 unsupported boot loader, 77 not applicable. See peerpath(8).\n";
}

po::options_description options_of(const Command& command) {
  po::options_description options("Options");
  command.add_options(options);
  options.add_options()("help,h", "print this help");
  return options;
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string result;
  std::size_t column = 0;
  for (const auto word : words(text)) {
    if (column > 0 && column + 1 + word.size() > width) {
      result += '\n';
      column = 0;
    } else if (column > 0) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

std::string help_of(const Command& command, const po::options_description& options) {
  const auto arguments = command.arguments.empty() ? "" : fmt::format(" {}", command.arguments);
  return fmt::format("Usage: peerpath {} [OPTION]...{}\n\n{}\n\n{}", command.name, arguments,
                     wrapped(command.details, 78), fmt::streamed(options));
}

bool wants_colour(bool out_is_terminal) {
  // https://no-color.org: any value but an empty one.
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return out_is_terminal && (no_color == nullptr || *no_color == '\0') &&
         !(term != nullptr && std::string_view(term) == "dumb");
}

/// By the locale alone, as lsblk and tree do it, whether it's a terminal or not. The locale isn't
/// made the program's own: that would change what isalpha and the like say of bytes.
bool locale_is_utf8() {
  const auto locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return false;
  const bool is_utf8 = std::string_view(::nl_langinfo_l(CODESET, locale)) == "UTF-8";
  ::freelocale(locale);
  return is_utf8;
}

/// The first argument that the command doesn't take.
std::optional<std::string> unexpected_argument(const Command& command,
                                               const po::variables_map& values) {
  if (values.count("argument") == 0) return std::nullopt;
  const auto& arguments = values["argument"].as<std::vector<std::string>>();
  const auto taken = static_cast<std::size_t>(command.positional);
  if (arguments.size() <= taken) return std::nullopt;
  return arguments[taken];
}

Result<po::variables_map> parse(const Command& command, const po::options_description& visible,
                                const std::vector<std::string>& arguments) {
  po::options_description all;
  all.add(visible);
  // All that there are: Boost would refuse one too many without naming it.
  all.add_options()("argument", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("argument", -1);
  try {
    po::variables_map values;
    // No guessing: an abbreviation that works today would be ambiguous tomorrow.
    const int style =
        po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::store(
        po::command_line_parser(arguments).options(all).positional(positional).style(style).run(),
        values);
    po::notify(values);
    if (const auto extra = unexpected_argument(command, values)) {
      return fail(Errc::usage, fmt::format("unexpected argument '{}'", *extra));
    }
    return values;
  } catch (const po::error& error) {
    return fail(Errc::usage, error.what());
  }
}

class Application {
 public:
  Application(std::ostream& out, std::ostream& err, bool colour)
      : out_(out), err_(err), colour_(colour) {}

  ExitStatus run(const std::vector<std::string>& arguments) {
    json_ = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
    if (arguments.empty()) {
      err_ << general_help();
      return ExitStatus::usage;
    }
    if (arguments[0] == "--help" || arguments[0] == "-h") return print(general_help());
    if (arguments[0] == "--version") return print(fmt::format("peerpath {}\n", version()));
    const auto commands = all_commands();
    const auto command = std::find_if(commands.begin(), commands.end(),
                                      [&](const Command* c) { return c->name == arguments[0]; });
    if (command == commands.end()) {
      return usage(fmt::format("'{}': no such command", printable(arguments[0])), "--help");
    }
    return run(**command, {arguments.begin() + 1, arguments.end()});
  }

 private:
  ExitStatus run(const Command& command, const std::vector<std::string>& arguments) {
    const auto options = options_of(command);
    const auto values = parse(command, options, arguments);
    if (!values) {
      return usage(fmt::format("{}: {}", command.name, printable(values.error().message)),
                   fmt::format("{} --help", command.name));
    }
    if (values->count("help") != 0) return print(help_of(command, options));
    const Invocation invocation{*values, colour_, locale_is_utf8()};
    const auto answer = command.run(invocation);
    if (!answer) return report_error(command, answer.error(), exit_status_of(answer.error().code));
    if (answer->instead) return report_error(command, *answer->instead, answer->status);
    if (answer->beside) err_ << fmt::format("peerpath: {}\n", printable(answer->beside->text()));
    const auto printed = print(answer->text);
    return printed == ExitStatus::good ? answer->status : printed;
  }

  ExitStatus report_error(const Command& command, const Error& error, ExitStatus status) {
    if (json_) print(report::error_json(command.name, error, status));
    const bool needs_root = error.code == Errc::denied && !is_superuser();
    err_ << fmt::format("peerpath: {}{}\n", printable(error.text()),
                        needs_root ? "; try again as root" : "");
    return status;
  }

  ExitStatus print(std::string_view text) {
    out_ << text << std::flush;
    if (out_) return ExitStatus::good;
    // A report that was cut off must not pass for a good one.
    err_ << "peerpath: writing to standard output failed\n";
    return ExitStatus::failed;
  }

  ExitStatus usage(const std::string& message, std::string_view help) {
    if (json_) print(report::error_json("", Error{Errc::usage, message}, ExitStatus::usage));
    err_ << fmt::format("peerpath: {}\nTry 'peerpath {}'.\n", message, help);
    return ExitStatus::usage;
  }

  std::ostream& out_;
  std::ostream& err_;
  bool colour_;
  bool json_ = false;
};

}  // namespace

int run_application(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err,
                    bool out_is_terminal) {
  Application application(out, err, wants_colour(out_is_terminal));
  return static_cast<int>(application.run(arguments));
}

}  // namespace peerpath::cli
