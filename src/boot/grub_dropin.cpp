// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/grub_dropin.hpp"

#include "base/text.hpp"
#include "boot/grub_addition.hpp"
#include "boot/grub_config.hpp"
#include "boot/judge_entry.hpp"
#include "boot/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

constexpr std::string_view mkconfig_path = "/usr/sbin/grub-mkconfig";

/// The first line of each of our files tells that it's ours when the ledger is lost.
constexpr std::string_view mark = "# Written by peerpath; `peerpath revert` removes it.\n";

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

GrubGenerator generator(const System& system) {
  GrubGenerator generator{std::string(mkconfig_path), "grub-probe", {}, "update-grub"};
  if (auto path = system.resolve(grub_config_path)) generator.configs.push_back(std::move(*path));
  return generator;
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
  const auto wanted = standing_request(request, ours->content);
  const auto inspection = inspect(system);
  if (!inspection) return fail(inspection.error());
  const auto entries = judge_entries(inspection->entries, wanted.arch);

  const SettingsChange without{std::string(dropin_path), std::nullopt};
  const auto theirs = evaluate_grub_settings(system, without);
  if (!theirs) return fail(theirs.error());
  auto conflict = find_conflict(system, *theirs, dropin_path, entries, wanted);
  if (!conflict) return fail(conflict.error());
  if (*conflict) {
    plan.conflict = std::move(**conflict);
    return plan;
  }

  const auto satisfied = makes_untranslated(*theirs, wanted.arch);
  if (!satisfied) return fail(satisfied.error());
  if (!*satisfied || ours->content) {
    const auto content = std::string(mark) + grub_addition(system, wanted);
    const auto after = evaluate_grub_settings(system, SettingsChange{without.path, content});
    if (!after) return fail(after.error());
    if (const auto good = check_grub_addition(system, without.path, wanted, *theirs, *after);
        !good) {
      return fail(good.error());
    }
    if (ours->content != content) plan.steps.emplace_back(WriteFile{without.path, content});
  }
  if (is_stale(entries, !plan.steps.empty()) || inspection->missing) {
    const auto added = add_generation(system, *this, generator(system), "brings the word", plan);
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
  const auto added = add_generation(system, *this, generator(system), "takes the word away", plan);
  if (!added) return fail(added.error());
  return plan;
}

}  // namespace peerpath::boot
