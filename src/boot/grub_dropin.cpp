// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/grub_dropin.hpp"

#include "base/text.hpp"
#include "boot/grub_config.hpp"
#include "boot/grub_settings.hpp"
#include "boot/judge_entry.hpp"
#include "boot/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

constexpr std::string_view mkconfig_path = "/usr/sbin/grub-mkconfig";
constexpr std::string_view program_path = "/usr/sbin/peerpath";

/// The first line of each of our files tells that it's ours when the ledger is lost.
constexpr std::string_view mark = "# Written by peerpath; `peerpath revert` removes it.\n";

/// The settings file. The word is left out again when a later edit of the administrator's
/// contradicts it, and when the package was removed without its scripts.
std::string dropin(const System& system, const Request& request) {
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
  if (!system.exists(program_path)) return std::string(mark) + body;
  std::string guarded;
  for (const auto line : lines(body))
    guarded += fmt::format("  {}\n", line);
  return fmt::format("{}if [ -x {} ]; then\n{}fi\n", mark, program_path, guarded);
}

/// The contradiction in a command line made of settings, if there's one.
Result<std::optional<Conflict>> contradiction(const System& system, const std::string& value,
                                              cmdline::Arch arch) {
  const auto line = through_grub(value);
  if (!line) {
    return fail(
        Error(line.error()).while_doing(fmt::format("'{}'", system.shown(grub_settings_path))));
  }
  const auto word = cmdline::contradicts_passthrough(cmdline::judge(*line, arch));
  if (!word) return std::nullopt;
  return locate_in_grub_settings(system, word->text, GrubDropin::dropin_path);
}

Result<bool> untranslated(const std::string& value, cmdline::Arch arch) {
  const auto line = through_grub(value);
  if (!line) return fail(line.error());
  return cmdline::is_untranslated(cmdline::judge(*line, arch).mode);
}

/// Whether every entry made from these settings boots untranslated.
Result<bool> all_untranslated(const GrubSettings& settings, cmdline::Arch arch) {
  auto normal = untranslated(settings.normal_entry(), arch);
  if (!normal || !*normal) return normal;
  return untranslated(settings.recovery_entry(), arch);
}

/// Whether `after` is `before` with our word at the end.
bool adds_only(const std::string& before, const std::string& after, std::string_view word) {
  return after == before + (before.empty() ? "" : " ") + std::string(word);
}

/// A drop-in must change nothing but what it's for, wherever it's read.
Result<> check_dropin(const System& system, const Request& request, const GrubSettings& before,
                      const GrubSettings& after) {
  const auto word = cmdline::passthrough_word(request.arch);
  const bool only_ours =
      (after.linux_all == before.linux_all || adds_only(before.linux_all, after.linux_all, word)) &&
      (after.linux_default == before.linux_default ||
       (request.force && adds_only(before.linux_default, after.linux_default, word)));
  const auto works = all_untranslated(after, request.arch);
  if (!works) return fail(works.error());
  if (only_ours && *works) return {};
  return fail(Errc::unsupported,
              fmt::format("'{}': a file that's read after it sets the command line anew, or the "
                          "line is too long",
                          system.shown(GrubDropin::dropin_path)));
}

struct Dropin {
  std::optional<std::string> content;  ///< of the file that's there now
};

/// Our file as it is now. Errors: conflict where somebody else's file has that name.
Result<Dropin> read_dropin(const System& system) {
  if (!system.link_info(GrubDropin::dropin_path)) return Dropin{};
  auto content = system.read(GrubDropin::dropin_path);
  if (!content) return fail(content.error());
  if (!content->starts_with(mark)) {
    return fail(Errc::conflict, fmt::format("'{}': not written by peerpath, left alone",
                                            system.shown(GrubDropin::dropin_path)));
  }
  return Dropin{std::move(*content)};
}

/// Why grub.cfg can't be generated here and now, if it can't.
/// Fact: grub-mkconfig asks grub-probe for the devices; in a chroot without /dev it fails, and
/// took package installs with it (delphix/appliance-build#185).
Result<std::optional<std::string>> cannot_generate(const System& system) {
  const auto answer = [](std::string reason) { return std::optional(std::move(reason)); };
  if (!system.exists(grub_config_path)) {
    return answer(fmt::format("there's no '{}' yet", system.shown(grub_config_path)));
  }
  for (const std::string_view directory : {"/", "/boot"}) {
    const Command probe{.argv = {"grub-probe", "--target=device", std::string(directory)}};
    const auto result = system.run(probe);
    if (!result) return answer(result.error().text());
    if (result->status != 0) {
      const auto said = lines(result->err);
      return answer(fmt::format("grub-probe can't tell the device of '{}': {}", directory,
                                said.empty() ? "no message" : printable(trim(said.back()))));
    }
  }
  return std::nullopt;
}

Result<> add_regeneration(const System& system, const GrubDropin& loader, std::string_view brings,
                          Plan& plan) {
  auto reason = cannot_generate(system);
  if (!reason) return fail(reason.error());
  if (*reason) {
    plan.deferred.push_back({"GRUB's configuration isn't generated now", std::move(**reason),
                             fmt::format("the next 'update-grub' {}", brings)});
    return {};
  }
  auto path = system.resolve(grub_config_path);
  if (!path) return fail(path.error());
  plan.steps.emplace_back(
      Regenerate{std::move(*path), {std::string(mkconfig_path), "-o"}, &loader});
  return {};
}

/// Whether grub.cfg has an entry that the settings would now give another mode. One whose mode
/// can't be known counts only when the settings have just changed, or the plan had no end.
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

/// Whether grub.cfg has our word though the settings will no longer give it. It's ours to take
/// away if our settings file is still there, or an earlier run began to revert and couldn't finish.
Result<bool> has_stale_word(const System& system, bool has_dropin) {
  const auto ledger = load_ledger(system);
  if (!ledger) return fail(ledger.error());
  if (!has_dropin && (!*ledger || (*ledger)->artefacts.empty())) return false;
  const auto inspection = read_grub_config(system);
  if (!inspection) return fail(inspection.error());
  return std::ranges::any_of(inspection->entries, has_word_of_ours);
}

/// The administrator's word that forbids going on, if there's one: in the settings without our
/// file, or in an entry that no generator wrote.
Result<std::optional<Conflict>> find_conflict(const System& system, const GrubSettings& theirs,
                                              const std::vector<JudgedEntry>& entries,
                                              const Request& request) {
  if (request.force) return std::nullopt;
  for (const auto& value : {theirs.normal_entry(), theirs.recovery_entry()}) {
    auto conflict = contradiction(system, value, request.arch);
    if (!conflict || *conflict) return conflict;
  }
  for (const auto& [entry, mode, judgement] : entries) {
    if (entry.generated || !entry.kernel_present || mode != cmdline::Mode::translated) continue;
    return Conflict{judgement.decided_by->text, entry.file, entry.line};
  }
  return std::nullopt;
}

}  // namespace

bool GrubDropin::detect(const System& system) const {
  // The feature, not the distribution: does this grub-mkconfig read the directory?
  const auto mkconfig = system.read(mkconfig_path);
  return mkconfig && mkconfig->find("default/grub.d") != std::string::npos;
}

Result<Inspection> GrubDropin::inspect(const System& system) const {
  auto config = read_grub_config(system);
  if (!config) return fail(config.error());
  return std::move(*config);
}

Result<Inspection> GrubDropin::inspect_artefact(const System& system, const std::string& path,
                                                const std::string& content) const {
  auto config = parse_grub_config(system, path, content);
  if (!config) return fail(config.error());
  return std::move(*config);
}

Result<Plan> GrubDropin::plan(const System& system, const Request& request) const {
  Plan plan;
  const auto ours = read_dropin(system);
  if (!ours) return fail(ours.error());
  const auto inspection = inspect(system);
  if (!inspection) return fail(inspection.error());
  const auto entries = judge_entries(inspection->entries, request.arch);

  const SettingsChange without{std::string(dropin_path), std::nullopt};
  const auto theirs = evaluate_grub_settings(system, without);
  if (!theirs) return fail(theirs.error());
  auto conflict = find_conflict(system, *theirs, entries, request);
  if (!conflict) return fail(conflict.error());
  if (*conflict) {
    plan.conflict = std::move(**conflict);
    return plan;
  }

  const auto satisfied = all_untranslated(*theirs, request.arch);
  if (!satisfied) return fail(satisfied.error());
  if (!*satisfied || ours->content) {
    const auto content = dropin(system, request);
    const auto after = evaluate_grub_settings(system, SettingsChange{without.path, content});
    if (!after) return fail(after.error());
    if (const auto good = check_dropin(system, request, *theirs, *after); !good) {
      return fail(good.error());
    }
    if (ours->content != content) plan.steps.emplace_back(WriteFile{without.path, content});
  }
  if (is_stale(entries, !plan.steps.empty()) || inspection->missing) {
    const auto added = add_regeneration(system, *this, "brings the word", plan);
    if (!added) return fail(added.error());
  }
  return plan;
}

Result<Plan> GrubDropin::plan_revert(const System& system) const {
  Plan plan;
  const auto ours = read_dropin(system);
  if (!ours) return fail(ours.error());
  if (ours->content) plan.steps.emplace_back(RemoveFile{std::string(dropin_path)});

  const auto stale = has_stale_word(system, ours->content.has_value());
  if (!stale) return fail(stale.error());
  if (!*stale) return plan;
  const auto added = add_regeneration(system, *this, "takes the word away", plan);
  if (!added) return fail(added.error());
  return plan;
}

}  // namespace peerpath::boot
