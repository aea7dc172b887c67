// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/grub_addition.hpp"

#include "base/text.hpp"
#include "boot/grub_config.hpp"
#include "boot/tool.hpp"
#include "cmdline/tokenise.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

constexpr std::string_view program_path = "/usr/sbin/peerpath";

/// The contradiction in a command line made of settings, if there's one.
Result<std::optional<Conflict>> contradiction(const System& system, const std::string& value,
                                              std::string_view ours, cmdline::Arch arch) {
  const auto line = through_grub(value);
  if (!line) {
    return fail(
        Error(line.error()).while_doing(fmt::format("'{}'", system.shown(grub_settings_path))));
  }
  const auto word = cmdline::contradicts_passthrough(cmdline::judge(*line, arch));
  if (!word) return std::nullopt;
  return locate_in_grub_settings(system, word->text, ours);
}

Result<bool> untranslated(const std::string& value, cmdline::Arch arch) {
  const auto line = through_grub(value);
  if (!line) return fail(line.error());
  return cmdline::is_untranslated(cmdline::judge(*line, arch).mode);
}

/// Whether the word is on the line, but after a bare `--`.
bool is_for_init(std::string_view line, std::string_view word) {
  return std::ranges::any_of(cmdline::tokenise(line), [&](const cmdline::Token& token) {
    return token.for_init && token.text == word;
  });
}

/// The settings' bare `--`: one that isn't the start of another word.
std::string place_of_dashes(const System& system, std::string_view ours) {
  // Where ours is a block in the administrator's file, the words may be in the same file.
  if (ours == grub_settings_path) ours = "";
  for (const auto* text : {" -- ", " --\"", " --'", "\"-- ", "'-- ", "\"--\"", "'--'", "=--"}) {
    const auto found = locate_in_grub_settings(system, text, ours);
    if (!found.file.empty()) return fmt::format("'{}:{}'", system.shown(found.file), found.line);
  }
  return "the settings";
}

/// "FILE:LINE" of the last assignment to one of the two variables in the files after ours.
std::optional<std::string> set_later(const System& system, const std::string& ours) {
  if (ours == grub_settings_path) return std::nullopt;  // ours are the last lines of the only one
  const auto files = grub_settings_files(system);
  if (!files) return std::nullopt;
  std::optional<std::string> place;
  for (const auto& file : *files) {
    if (file <= ours) continue;  // they're read in this order
    const auto text = system.read(file);
    if (!text) continue;
    std::size_t number = 0;
    for (const auto line : lines(*text)) {
      ++number;
      const auto code = trim(line);
      if (code.starts_with('#') || code.find("GRUB_CMDLINE_LINUX") == std::string_view::npos) {
        continue;
      }
      place = fmt::format("{}:{}", system.shown(file), number);
    }
  }
  return place;
}

/// Why the settings with our addition don't come to what it's for.
std::string why_not_in_force(const System& system, const std::string& ours, std::string_view word,
                             const GrubSettings& after, cmdline::Arch arch) {
  for (const auto& value : {after.normal_entry(), after.recovery_entry()}) {
    const auto line = through_grub(value);
    if (!line) continue;
    if (is_for_init(*line, word)) {
      return fmt::format(
          "'{}' would come after the bare '--' in {}, where the kernel doesn't "
          "heed it",
          word, place_of_dashes(system, ours));
    }
    if (cmdline::is_too_long(*line, arch)) {
      return fmt::format("the command line would have {} bytes, and the kernel keeps {}",
                         line->size(), cmdline::kept_bytes(arch));
    }
  }
  if (const auto place = set_later(system, ours)) {
    return fmt::format("'{}' is read after it and sets the command line anew", *place);
  }
  return fmt::format("the settings don't come to a command line with '{}' at its end", word);
}

/// Whether `after` is `before` with our word at the end.
bool adds_only(const std::string& before, const std::string& after, std::string_view word) {
  return after == before + (before.empty() ? "" : " ") + std::string(word);
}

/// Why grub.cfg can't be generated here and now, if it can't.
std::optional<std::string> cannot_generate(const System& system, const GrubGenerator& generator) {
  if (generator.configs.empty()) return "there's no grub.cfg yet";
  for (const std::string_view directory : {"/", "/boot"}) {
    const Command probe{.argv = {generator.probe, "--target=device", std::string(directory)}};
    const auto result = system.run(probe);
    if (!result) return result.error().text();
    if (result->status != 0) {
      return fmt::format("{} can't tell the device of '{}': {}", generator.probe, directory,
                         last_line(result->err));
    }
  }
  return std::nullopt;
}

}  // namespace

std::string grub_addition(const System& system, const Request& request) {
  const auto word = cmdline::passthrough_word(request.arch);
  std::string body;
  if (request.force) {
    // Last on every command line, whatever the administrator's words are.
    body = fmt::format(R"(GRUB_CMDLINE_LINUX="${{GRUB_CMDLINE_LINUX:+$GRUB_CMDLINE_LINUX }}{0}"
GRUB_CMDLINE_LINUX_DEFAULT="${{GRUB_CMDLINE_LINUX_DEFAULT:+$GRUB_CMDLINE_LINUX_DEFAULT }}{0}"
)",
                       word);
  } else {
    body = fmt::format(R"(if (
  set -f
  for peerpath_word in ${{GRUB_CMDLINE_LINUX-}} ${{GRUB_CMDLINE_LINUX_DEFAULT-}}; do
    case $peerpath_word in
      iommu=nopt* | iommu=*,nopt*) exit 1 ;;
      iommu.passthrough=[0nNfFdD]* | iommu.passthrough=[oO][fF]*) exit 1 ;;
    esac
  done
); then
  GRUB_CMDLINE_LINUX="${{GRUB_CMDLINE_LINUX:+$GRUB_CMDLINE_LINUX }}{}"
fi
)",
                       word);
  }
  // An image that's prepared from outside may not have the package: no guard for its removal then.
  if (!system.exists(program_path)) return body;
  std::string guarded;
  for (const auto line : lines(body))
    guarded += fmt::format("  {}\n", line);
  return fmt::format("if [ -x {} ]; then\n{}fi\n", program_path, guarded);
}

Request standing_request(const Request& request, const std::optional<std::string_view>& present) {
  auto standing = request;
  // Only a forced one sets this variable.
  if (present && present->find("GRUB_CMDLINE_LINUX_DEFAULT=\"") != std::string_view::npos) {
    standing.force = true;
  }
  return standing;
}

Result<bool> makes_untranslated(const GrubSettings& settings, cmdline::Arch arch) {
  auto normal = untranslated(settings.normal_entry(), arch);
  if (!normal || !*normal) return normal;
  return untranslated(settings.recovery_entry(), arch);
}

Result<> check_grub_addition(const System& system, const std::string& path, const Request& request,
                             const GrubSettings& before, const GrubSettings& after) {
  const auto word = cmdline::passthrough_word(request.arch);
  const bool only_ours =
      (after.linux_all == before.linux_all || adds_only(before.linux_all, after.linux_all, word)) &&
      (after.linux_default == before.linux_default ||
       (request.force && adds_only(before.linux_default, after.linux_default, word)));
  const auto works = makes_untranslated(after, request.arch);
  if (!works) return fail(works.error());
  if (only_ours && *works) return {};
  return fail(Errc::unsupported,
              fmt::format("'{}': {}", system.shown(path),
                          why_not_in_force(system, path, word, after, request.arch)));
}

Result<std::optional<Conflict>> find_conflict(const System& system, const GrubSettings& theirs,
                                              std::string_view ours,
                                              const std::vector<JudgedEntry>& entries,
                                              const Request& request) {
  if (request.force) return std::nullopt;
  for (const auto& value : {theirs.normal_entry(), theirs.recovery_entry()}) {
    auto conflict = contradiction(system, value, ours, request.arch);
    if (!conflict || *conflict) return conflict;
  }
  for (const auto& [entry, mode, judgement] : entries) {
    if (entry.generated || !entry.kernel_present || mode != cmdline::Mode::translated) continue;
    return Conflict{judgement.decided_by->text, entry.file, entry.line};
  }
  return std::nullopt;
}

bool is_stale(const std::vector<JudgedEntry>& entries, bool settings_changed) {
  return std::any_of(entries.begin(), entries.end(), [&](const JudgedEntry& entry) {
    return entry.entry.generated && !entry.untranslated() && (entry.mode || settings_changed);
  });
}

bool has_word_of_ours(const Entry& entry) {
  return entry.generated && std::ranges::any_of(entry.command_lines, [](const auto& line) {
           return std::ranges::any_of(words(line), [](std::string_view word) {
             return word == cmdline::passthrough_word(cmdline::Arch::x86_64) ||
                    word == cmdline::passthrough_word(cmdline::Arch::arm64);
           });
         });
}

Result<> add_generation(const System& system, const BootLoader& loader,
                        const GrubGenerator& generator, std::string_view brings, Plan& plan) {
  if (auto why = cannot_generate(system, generator)) {
    plan.deferred.push_back({"GRUB's configuration isn't generated now", std::move(*why),
                             fmt::format("the next '{}' {}", generator.command, brings)});
    return {};
  }
  for (const auto& config : generator.configs)
    plan.steps.emplace_back(Regenerate{config, {generator.mkconfig, "-o"}, &loader});
  return {};
}

}  // namespace peerpath::boot
