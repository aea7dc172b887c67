// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/unsupported.hpp"

#include "base/text.hpp"
#include "boot/added_word.hpp"
#include "cmdline/why_not.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace peerpath::boot {
namespace {

/// Where the kernel's options are in a line of a configuration file, if it has any.
using FindOptions = std::optional<Slice> (*)(std::string_view line);

/// The end of a value in quotes: the first such quote after which there's nothing or a comment;
/// else the last, since there may be others in `$(cat "…")`.
std::optional<std::size_t> closing_quote(std::string_view line, std::size_t open) {
  if (open >= line.size() || (line[open] != '"' && line[open] != '\'')) return std::nullopt;
  std::optional<std::size_t> last;
  for (auto at = open + 1; at < line.size(); ++at) {
    if (line[at] != line[open]) continue;
    last = at;
    const auto rest = trim(line.substr(at + 1));
    if (rest.empty() || rest.starts_with('#')) break;
  }
  return last;
}

enum class Quotes { around_value, of_the_kernel };

/// The value after a key; without the quotes around it, where they're the file's own.
std::optional<Slice> value_after(std::string_view line, std::string_view key,
                                 std::string_view separators,
                                 Quotes quotes = Quotes::around_value) {
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos || line.size() < begin + key.size()) return std::nullopt;
  const auto name = line.substr(begin, key.size());
  const bool same = std::ranges::equal(name, key, [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  });
  const auto after = begin + key.size();
  const auto value = std::min(line.find_first_not_of(separators, after), line.size());
  const auto between = line.substr(after, value - after);
  const bool separated = separators.find('=') == std::string_view::npos
                             ? value > after || after == line.size()
                             : between.find('=') != std::string_view::npos;
  if (!same || !separated) return std::nullopt;
  if (quotes == Quotes::around_value) {
    if (const auto close = closing_quote(line, value)) return Slice{value + 1, *close};
  }
  return Slice{value, value + line.substr(value).find_last_not_of(" \t\r") + 1};
}

/// A lone dash stands for no options at all.
/// Fact: syslinux doc/syslinux.txt, APPEND.
std::optional<Slice> of_append(std::string_view line) {
  auto options = value_after(line, "append", " \t", Quotes::of_the_kernel);
  if (options && options->of(line) == "-") options->end = options->begin;
  return options;
}

std::optional<Slice> of_refind_stanza(std::string_view line) {
  return value_after(line, "options", " \t");
}

std::optional<Slice> of_zipl(std::string_view line) {
  return value_after(line, "parameters", " \t=");
}

std::optional<Slice> of_u_boot(std::string_view line) {
  return value_after(line, "U_BOOT_PARAMETERS", "=");
}

/// A title in quotes, then the options in quotes. A doubled quote is one of the text.
std::optional<Slice> of_refind_linux(std::string_view line) {
  std::vector<std::size_t> quotes;
  if (trim(line).starts_with('#')) return std::nullopt;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '"') continue;
    const bool doubled = quotes.size() % 2 == 1 && line.substr(at + 1).starts_with('"');
    if (doubled) {
      ++at;
    } else {
      quotes.push_back(at);
    }
  }
  if (quotes.size() < 4) return std::nullopt;
  return Slice{quotes[2] + 1, quotes[3]};
}

/// The lines of extlinux's entries that name a kernel and get no options, neither of their own nor
/// those before the first entry.
std::vector<std::size_t> without_options(std::string_view text) {
  std::vector<std::size_t> found;
  std::size_t number = 0;
  std::size_t kernel = 0;  // of the entry that's being read
  bool in_entry = false;
  bool options = false;
  bool common_options = false;
  const auto end_entry = [&] {
    if (kernel != 0 && !options && !common_options) found.push_back(kernel);
    kernel = 0;
    options = false;
  };
  for (const auto line : lines(text)) {
    ++number;
    if (value_after(line, "label", " \t")) {
      end_entry();
      in_entry = true;
    } else if (of_append(line)) {
      (in_entry ? options : common_options) = true;
    } else if (value_after(line, "linux", " \t") || value_after(line, "kernel", " \t")) {
      kernel = number;
    }
  }
  end_entry();
  return found;
}

/// What a file's lines should read: those with options that don't make for passthrough.
struct Lines {
  bool any = false;  ///< lines with options, good or not
  std::vector<std::string> wanted;
};

/// What to do with a line, which the word at its end needn't help.
std::string advice(const std::string& place, std::string_view wanted, std::string_view options,
                   const cmdline::Judgement& now, cmdline::Arch arch) {
  const auto word = cmdline::passthrough_word(arch);
  if (const auto contrary = cmdline::contradicts_passthrough(now)) {
    return fmt::format("in '{}' put '{}' in the place of '{}', which contradicts it", place, word,
                       printable(contrary->text));
  }
  if (!cmdline::is_untranslated(cmdline::judge(options, arch).mode)) {
    return fmt::format("'{}': '{}' at the end of these options wouldn't work: {}", place, word,
                       printable(cmdline::why_not_in_force(options, word, arch)));
  }
  return fmt::format("make '{}' read '{}'", place, printable(trim(wanted)));
}

/// The line as it should read.
std::string with_word(std::string_view line, Slice options, std::string_view word,
                      FindOptions find) {
  const auto before = line.substr(0, options.begin);
  const auto now = options.of(line);
  const bool dash = now.empty() && trim(line.substr(options.end)) == "-";
  if (dash) return fmt::format("{}{}", before, word);
  // To a shell a blank would end the value.
  if (find == of_u_boot && before.ends_with('=')) {
    return fmt::format("{}\"{}{}{}\"", before, now, now.empty() ? "" : " ", word);
  }
  return edited(line, add_word("", line, options, word)).value_or("");
}

void add_lines(const System& system, const std::string& path, FindOptions find, cmdline::Arch arch,
               Lines& found) {
  const auto text = system.read(path);
  if (!text) return;
  const auto word = cmdline::passthrough_word(arch);
  std::size_t number = 0;
  for (const auto line : lines(*text)) {
    ++number;
    const auto options = find(line);
    if (!options) continue;
    found.any = true;
    const auto judgement = cmdline::judge(options->of(line), arch);
    if (cmdline::is_untranslated(judgement.mode)) continue;
    const auto wanted = with_word(line, *options, word, find);
    const auto made = find(wanted).value_or(Slice{});
    found.wanted.push_back(advice(fmt::format("{}:{}", system.shown(path), number), wanted,
                                  made.of(wanted), judgement, arch));
  }
}

struct Rule {
  std::string_view name;
  std::string_view directory;
  std::string_view pattern;
  FindOptions find = nullptr;     ///< in the lines of that file
  std::string_view missing = {};  ///< what to do where it has no such line
  std::string_view then = {};     ///< what to do at the end
  /// Other files, in which the same program reads lines of another form.
  std::string_view more_path = {};
  FindOptions find_more = nullptr;
  /// Tells as much as a file does, where the menu that it writes is there.
  std::string_view program = {};
};

constexpr std::string_view u_boot_line =
    "add the line 'U_BOOT_PARAMETERS=\"ro quiet {word}\"' (your own words for 'ro quiet') to "
    "'/etc/default/u-boot'";
constexpr std::string_view extlinux_menu = "/boot/extlinux/extlinux.conf";

// Each of these keeps the command line somewhere else than in GRUB's settings, even where GRUB
// is installed as well: a drop-in would look done and never boot.
// u-boot-menu makes extlinux.conf, so it comes before that.
constexpr std::array rules{
    Rule{"u-boot-menu", "/etc/u-boot-menu/conf.d", "*.conf", of_u_boot, u_boot_line,
         "run 'u-boot-update'", "/etc/default/u-boot", of_u_boot},
    Rule{.name = "u-boot-menu",
         .directory = "/etc/default",
         .pattern = "u-boot",
         .find = of_u_boot,
         .missing = u_boot_line,
         .then = "run 'u-boot-update'",
         .program = "/usr/sbin/u-boot-update"},
    Rule{"extlinux", "/boot/extlinux", "extlinux.conf", of_append,
         "add a line 'APPEND {word}' to each of its entries"},
    Rule{"rEFInd",
         "/boot",
         "refind_linux.conf",
         of_refind_linux,
         "add a line '\"Boot\" \"OPTIONS {word}\"' with the options of '/proc/cmdline'",
         {},
         "/boot/efi/EFI/refind/refind.conf",
         of_refind_stanza},
    Rule{"zipl", "/etc", "zipl.conf", of_zipl, "add a line 'parameters=\"{word}\"' to its section",
         "run 'zipl'"},
};

/// The files that tell it.
std::vector<std::string> files_of(const System& system, const Rule& rule) {
  std::vector<std::string> files;
  const auto names = system.list(rule.directory);
  for (const auto& name : names.value_or(std::vector<std::string>{})) {
    if (matches_glob(rule.pattern, name))
      files.push_back(fmt::format("{}/{}", rule.directory, name));
  }
  if (files.empty() && !rule.program.empty() && system.exists(rule.program) &&
      system.exists(extlinux_menu)) {
    files.emplace_back(rule.program);
  }
  return files;
}

/// The entries of a menu that have no line with options yet.
void add_bare_entries(const System& system, const std::string& path, cmdline::Arch arch,
                      Lines& found) {
  const auto text = system.read(path);
  if (!text || !found.any) return;
  for (const auto number : without_options(*text)) {
    found.wanted.push_back(fmt::format("after '{}:{}' add the line 'APPEND {}'", system.shown(path),
                                       number, cmdline::passthrough_word(arch)));
  }
}

std::string remedy_of(const System& system, const Rule& rule, const std::vector<std::string>& files,
                      cmdline::Arch arch) {
  Lines found;
  if (rule.find != nullptr) {
    for (const auto& file : files)
      add_lines(system, file, rule.find, arch, found);
  }
  if (rule.find == of_append) add_bare_entries(system, files.front(), arch, found);
  if (rule.find_more != nullptr) {
    add_lines(system, std::string(rule.more_path), rule.find_more, arch, found);
  }
  if (found.any && found.wanted.empty()) {
    return "all its lines have the word already" +
           (rule.then.empty() ? "" : fmt::format("; {}, unless that was done since", rule.then));
  }
  if (!found.any) {
    found.wanted.push_back(
        fmt::format(fmt::runtime(rule.missing), fmt::arg("word", cmdline::passthrough_word(arch))));
  }
  if (!rule.then.empty()) found.wanted.emplace_back(rule.then);
  return join(found.wanted, "; ");
}

}  // namespace

std::optional<Unsupported> find_unsupported(const System& system, cmdline::Arch arch) {
  for (const auto& rule : rules) {
    const auto files = files_of(system, rule);
    if (files.empty()) continue;
    return Unsupported{fmt::format("it boots by {} ('{}'), which this version can't set up",
                                   rule.name, files.front()),
                       remedy_of(system, rule, files, arch)};
  }
  return std::nullopt;
}

}  // namespace peerpath::boot
