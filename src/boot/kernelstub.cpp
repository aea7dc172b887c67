// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/kernelstub.hpp"

#include "base/text.hpp"
#include "boot/bls_inspect.hpp"
#include "boot/kernelstub_config.hpp"
#include "boot/ledger.hpp"
#include "boot/platform.hpp"
#include "boot/refresh.hpp"
#include "cmdline/why_not.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

Refresh refresh() {
  return {{"the entries on the ESP", {"kernelstub"}, "kernelstub"},
          "the entries on the ESP aren't made anew now"};
}

struct Settings {
  std::string text;
  KernelstubOptions options;
};

Result<Settings> read_settings(const System& system) {
  Settings settings;
  auto text = system.read(Kernelstub::settings_path);
  if (!text) return fail(text.error());
  settings.text = std::move(*text);
  auto options = parse_kernelstub(settings.text);
  if (!options) {
    return fail(
        options.error().code,
        fmt::format("'{}': {}", system.shown(Kernelstub::settings_path), options.error().message));
  }
  settings.options = std::move(*options);
  return settings;
}

Conflict locate(const Settings& settings, const std::string& word) {
  Conflict found{word, std::string(Kernelstub::settings_path), 0};
  for (const auto& element : settings.options.elements) {
    const auto all = words(element.option);
    if (std::ranges::find(all, word) == all.end()) continue;
    const auto before = settings.text.substr(0, element.place.begin);
    found.line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
  }
  return found;
}

/// Adds the word, if it does what it's for there.
Result<> add_settings(const System& system, const Settings& settings, cmdline::Arch arch,
                      Plan& plan) {
  const std::string path(Kernelstub::settings_path);
  auto edit = add_option(path, settings.text, settings.options, cmdline::passthrough_word(arch));
  const auto after = parse_kernelstub(edited(settings.text, edit).value_or(""));
  if (!after) return fail(after.error());
  if (!cmdline::is_untranslated(cmdline::judge(after->command_line, arch).mode)) {
    const auto word = cmdline::passthrough_word(arch);
    return fail(Errc::unsupported,
                fmt::format("'{}': '{}' at the end of 'kernel_options' wouldn't work: {}",
                            system.shown(path), word,
                            cmdline::why_not_in_force(after->command_line, word, arch)));
  }
  plan.steps.emplace_back(std::move(edit));
  return {};
}

}  // namespace

bool Kernelstub::detect(const System& system) const {
  return system.exists(settings_path);
}

Result<Inspection> Kernelstub::inspect(const System& system) const {
  auto inspection = inspect_boot_partitions(system);
  if (!inspection) return inspection;
  std::erase_if(inspection->entries, [&](const Entry& entry) {
    if (!base_name(entry.file).starts_with("Recovery-")) return false;
    inspection->notes.push_back(
        fmt::format("{}: the recovery system, left as it is", system.shown(entry.file)));
    return true;
  });
  if (inspection->entries.empty()) {
    inspection->unfollowed.push_back(
        fmt::format("'{}': no entry of kernelstub's is in reach: the ESP isn't mounted, or the "
                    "firmware starts the kernel itself; what it gets could not be told",
                    system.root()));
  }
  return inspection;
}

Result<Plan> Kernelstub::plan(const System& system, const Request& request) const {
  Plan plan;
  const auto settings = read_settings(system);
  if (!settings) return fail(settings.error());
  const auto inspection = inspect(system);
  if (!inspection) return fail(inspection.error());
  const auto judgement = cmdline::judge(settings->options.command_line, request.arch);
  if (has_word(settings->options.command_line, cmdline::passthrough_word(request.arch))) {
    plan.theirs.emplace_back(settings_path);
  }
  if (const auto contrary = cmdline::contradicts_passthrough(judgement);
      contrary && !request.force) {
    plan.conflict = locate(*settings, contrary->text);
    return plan;
  }
  if (!cmdline::is_untranslated(judgement.mode)) {
    auto added = add_settings(system, *settings, request.arch, plan);
    if (!added) return fail(added.error());
  }
  const auto good = boots_untranslated(*inspection, request.arch);
  if (auto added = add_refresh(system, refresh(), good, plan); !added) return fail(added.error());
  return plan;
}

Result<Plan> Kernelstub::plan_revert(const System& system) const {
  Plan plan;
  const auto ledger = load_ledger(system);
  if (!ledger) return fail(ledger.error());
  const std::string path(settings_path);
  if (!*ledger || !system.exists(path)) return plan;
  if (is_ours(**ledger, path)) {
    const auto settings = read_settings(system);
    if (!settings) return fail(settings.error());
    for (const auto arch : arches_of_words(system)) {
      auto edit = take_option(**ledger, path, settings->text, settings->options,
                              cmdline::passthrough_word(arch));
      if (!edit) continue;
      plan.steps.emplace_back(std::move(*edit));
      break;
    }
  }
  if (auto added = add_refresh_back(system, refresh(), plan); !added) return fail(added.error());
  return plan;
}

}  // namespace peerpath::boot
