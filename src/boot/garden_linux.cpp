// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/garden_linux.hpp"

#include "base/text.hpp"
#include "boot/bls_inspect.hpp"
#include "boot/ledger.hpp"
#include "boot/refresh.hpp"
#include "boot/shell_settings.hpp"
#include "cmdline/why_not.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

constexpr std::string_view variable = "CMDLINE_LINUX";
constexpr std::string_view program_path = "/usr/sbin/peerpath";
constexpr std::string_view mark = "# Written by peerpath; `peerpath revert` removes it.\n";

Refresh refresh() {
  return {{"/etc/kernel/cmdline", {"update-kernel-cmdline"}, "update-kernel-cmdline"},
          "'/etc/kernel/cmdline' isn't made anew now",
          /*only_booted=*/false};
}

/// The settings files in the order in which they're sourced.
std::vector<std::string> settings_files(const System& system) {
  std::vector<std::string> files;
  const auto names = system.list(GardenLinux::settings_directory);
  if (!names) return files;
  for (const auto& name : *names) {
    if (matches_glob("*-*.cfg", name) && !name.starts_with('.')) {
      files.push_back(fmt::format("{}/{}", GardenLinux::settings_directory, name));
    }
  }
  return files;
}

/// What the settings come to by way of update-kernel-cmdline, with `ours` in place of our file;
/// without one where it's nothing. Errors: those of `source_settings`.
Result<std::string> evaluate(const System& system, const std::optional<std::string>& ours) {
  // It's a script of bash; where that's missing, nobody runs it either.
  const auto* shell = system.exists("/bin/bash") ? "/bin/bash" : "/bin/sh";
  auto values =
      source_settings(system, {shell, "-eu", settings_files(system), {std::string(variable)}},
                      SettingsChange{std::string(GardenLinux::settings_path), ours});
  if (!values) return fail(values.error());
  return std::move(values->front());
}

std::string our_settings(const System& system, std::string_view word) {
  const auto line = fmt::format("{0}=\"${{{0}:+${0} }}{1}\"\n", variable, word);
  // An image that's prepared from outside may not have the package: no guard for its removal then.
  if (!system.exists(program_path)) return std::string(mark) + line;
  return fmt::format("{}if [ -x {} ]; then\n  {}fi\n", mark, program_path, line);
}

/// Where the word comes from: the last file that has it.
Conflict locate(const System& system, const std::string& word) {
  Conflict found{word, "", 0};
  for (const auto& file : settings_files(system)) {
    const auto text = system.read(file);
    if (!text || file == GardenLinux::settings_path) continue;
    std::size_t number = 0;
    for (const auto line : lines(*text)) {
      ++number;
      if (trim(line).starts_with('#') || line.find(word) == std::string_view::npos) continue;
      found.file = file;
      found.line = number;
    }
  }
  return found;
}

/// Our file as it is now, if it's there. Errors: conflict where somebody else's has its name.
Result<std::optional<std::string>> read_ours(const System& system) {
  const auto path = GardenLinux::settings_path;
  if (!system.link_info(path)) return std::optional<std::string>{};
  auto content = system.read(path);
  if (!content) return fail(content.error());
  if (content->starts_with(mark)) return std::optional(std::move(*content));
  return fail(Errc::conflict,
              fmt::format("'{}': not written by peerpath, left alone", system.shown(path)));
}

/// Adds our file, which must change the command line by our word and nothing else.
Result<> add_settings(const System& system, const std::string& theirs,
                      const std::optional<std::string>& now, cmdline::Arch arch, Plan& plan) {
  const auto word = cmdline::passthrough_word(arch);
  const std::string path(GardenLinux::settings_path);
  const auto content = our_settings(system, word);
  const auto after = evaluate(system, content);
  if (!after) return fail(after.error());
  if (*after != theirs + (theirs.empty() ? "" : " ") + std::string(word)) {
    return fail(Errc::unsupported, fmt::format("'{}': a file that's read after it sets the command "
                                               "line anew",
                                               system.shown(path)));
  }
  if (!cmdline::is_untranslated(cmdline::judge(*after, arch).mode)) {
    return fail(Errc::unsupported,
                fmt::format("'{}': '{}' wouldn't work there: {}", system.shown(path), word,
                            cmdline::why_not_in_force(*after, word, arch)));
  }
  if (now != content) plan.steps.emplace_back(WriteFile{path, content});
  return {};
}

}  // namespace

bool GardenLinux::detect(const System& system) const {
  return std::ranges::any_of(settings_files(system), [&](const std::string& file) {
    const auto text = system.read(file);
    if (!text || text->starts_with(mark)) return false;
    return std::ranges::any_of(lines(*text), [](std::string_view line) {
      line = trim(line);
      return line.starts_with("CMDLINE_LINUX=") || line.starts_with("CMDLINE_LINUX+=") ||
             line.starts_with("export CMDLINE_LINUX=");
    });
  });
}

Result<Inspection> GardenLinux::inspect(const System& system) const {
  return inspect_boot_partitions(system);
}

Result<Plan> GardenLinux::plan(const System& system, const Request& request) const {
  Plan plan;
  const auto ours = read_ours(system);
  if (!ours) return fail(ours.error());
  const auto inspection = inspect(system);
  if (!inspection) return fail(inspection.error());
  const auto theirs = evaluate(system, std::nullopt);
  if (!theirs) return fail(theirs.error());
  const auto judgement = cmdline::judge(*theirs, request.arch);
  if (const auto contrary = cmdline::contradicts_passthrough(judgement);
      contrary && !request.force) {
    plan.conflict = locate(system, contrary->text);
    return plan;
  }
  if (!cmdline::is_untranslated(judgement.mode) || *ours) {
    auto added = add_settings(system, *theirs, *ours, request.arch, plan);
    if (!added) return fail(added.error());
  }
  const auto good = boots_untranslated(*inspection, request.arch);
  if (auto added = add_refresh(system, refresh(), good, plan); !added) return fail(added.error());
  if (!good.value_or(true)) {
    plan.deferred.push_back({"the entries aren't made anew now",
                             "'update-kernel-cmdline' writes '/etc/kernel/cmdline' only",
                             "'update-bootloaders', or the next kernel, brings the word"});
  }
  return plan;
}

Result<Plan> GardenLinux::plan_revert(const System& system) const {
  Plan plan;
  const auto ours = read_ours(system);
  if (!ours) return fail(ours.error());
  if (*ours) plan.steps.emplace_back(RemoveFile{std::string(settings_path)});
  if (auto added = add_refresh_back(system, refresh(), plan); !added) return fail(added.error());
  return plan;
}

}  // namespace peerpath::boot
