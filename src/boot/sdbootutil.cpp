// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/sdbootutil.hpp"

#include "base/text.hpp"
#include "boot/bls_inspect.hpp"
#include "boot/kernel_cmdline.hpp"
#include "boot/ledger.hpp"
#include "boot/refresh.hpp"
#include "cmdline/why_not.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

/// What's set up under transactional-update is of use in the snapshot that's booted next
/// (openSUSE/fde-tools#21).
Refresh refresh(const System& system) {
  Refresh refresh{{"the boot loader entries", {"sdbootutil", "update-all-entries"}, "sdbootutil"},
                  "the boot loader entries aren't made anew now"};
  if (find_program(system, "transactional-update")) {
    refresh.note =
        " (in a transactional update: pending with its snapshot, which the next reboot "
        "starts)";
  }
  return refresh;
}

/// The value of LOADER_TYPE, which the last assignment has.
std::string loader_type(const System& system) {
  std::string type;
  const auto text = system.read("/etc/sysconfig/bootloader");
  if (!text) return type;
  for (auto line : lines(*text)) {
    line = trim(line);
    if (!line.starts_with("LOADER_TYPE=")) continue;
    type = line.substr(std::string_view("LOADER_TYPE=").size());
    std::erase_if(type, [](char c) { return c == '"' || c == '\''; });
  }
  return type;
}

bool reads_directory(const System& system) {
  const auto script = system.read(Sdbootutil::program_path);
  return script && script->find("cmdline.d") != std::string::npos;
}

/// A file that gives words, with what it says.
struct Source {
  std::string path;
  std::string text;
};

/// All that sdbootutil puts together, without our own file. /proc/cmdline is never looked at:
/// what the boot loader added there grew with every run (openSUSE/sdbootutil#182).
Result<std::vector<Source>> read_sources(const System& system) {
  std::vector<std::string> paths;
  for (const std::string_view path :
       {kernel_cmdline_path, std::string_view("/usr/lib/kernel/cmdline")}) {
    if (!system.exists(path)) continue;
    paths.emplace_back(path);
    break;
  }
  if (const auto names = system.list(Sdbootutil::settings_directory)) {
    for (const auto& name : *names) {
      // The shell's `*`; half a file that a killed run left has such a name.
      if (name.starts_with('.')) continue;
      auto path = fmt::format("{}/{}", Sdbootutil::settings_directory, name);
      // Its `cat` gets nothing from a directory.
      const auto info = system.info(path);
      if (!info || info->kind != FileKind::directory) paths.push_back(std::move(path));
    }
  }
  std::erase(paths, Sdbootutil::settings_path);
  std::vector<Source> sources;
  for (const auto& path : paths) {
    auto text = system.read(path);
    if (!text) return fail(text.error());
    sources.push_back({path, std::move(*text)});
  }
  return sources;
}

std::string joined(const std::vector<Source>& sources) {
  std::string line;
  for (const auto& source : sources)
    line += source.text + " ";
  return line;
}

/// Where the word is: the last file that has it.
Conflict locate(const std::vector<Source>& sources, const std::string& word) {
  Conflict found{word, "", 0};
  for (const auto& source : sources) {
    std::size_t number = 0;
    for (const auto line : lines(source.text)) {
      ++number;
      const auto all = words(line);
      if (std::ranges::find(all, word) == all.end()) continue;
      found.file = source.path;
      found.line = number;
    }
  }
  return found;
}

std::string our_settings(cmdline::Arch arch) {
  return std::string(cmdline::passthrough_word(arch)) + "\n";
}

/// Whether our file is there: known by the ledger, or by having our word and nothing else.
Result<bool> has_ours(const System& system) {
  const std::string path(Sdbootutil::settings_path);
  if (!system.link_info(path)) return false;
  const auto content = system.read(path);
  if (!content) return fail(content.error());
  const auto ledger = load_ledger(system);
  if (!ledger) return fail(ledger.error());
  if (*ledger && find_path((*ledger)->files, path) != (*ledger)->files.end()) return true;
  if (*content == our_settings(cmdline::Arch::x86_64) ||
      *content == our_settings(cmdline::Arch::arm64)) {
    return true;
  }
  return fail(Errc::conflict,
              fmt::format("'{}': not written by peerpath, left alone", system.shown(path)));
}

/// Our own file, which must do what it's for: nothing after it may contradict, no `--` before it.
Result<> add_own_file(const System& system, std::vector<Source> sources, cmdline::Arch arch,
                      Plan& plan) {
  const Source ours{std::string(Sdbootutil::settings_path), our_settings(arch)};
  const auto place = std::ranges::find_if(sources, [&](const Source& source) {
    return source.path.starts_with(Sdbootutil::settings_directory) && source.path > ours.path;
  });
  sources.insert(place, ours);
  const auto line = joined(sources);
  if (!cmdline::is_untranslated(cmdline::judge(line, arch).mode)) {
    const auto word = cmdline::passthrough_word(arch);
    return fail(Errc::unsupported,
                fmt::format("'{}': '{}' wouldn't work there: {}", system.shown(ours.path), word,
                            cmdline::why_not_in_force(line, word, arch)));
  }
  const auto now = system.read(ours.path);
  if (!now || *now != ours.text) plan.steps.emplace_back(WriteFile{ours.path, ours.text});
  return {};
}

/// Adds the word where sdbootutil takes it from.
Result<> add_settings(const System& system, const std::vector<Source>& sources,
                      const Request& request, Plan& plan) {
  if (reads_directory(system)) return add_own_file(system, sources, request.arch, plan);
  if (system.exists(kernel_cmdline_path)) return add_kernel_cmdline(system, request, plan);
  return fail(Errc::unsupported,
              fmt::format("there's no '{}', and this sdbootutil reads no '{}'; write the command "
                          "line that your kernels need into that file, with '{}' at its end",
                          system.shown(kernel_cmdline_path), Sdbootutil::settings_directory,
                          cmdline::passthrough_word(request.arch)));
}

}  // namespace

bool Sdbootutil::detect(const System& system) const {
  if (!system.exists(program_path)) return false;
  const auto type = loader_type(system);
  return type == "systemd-boot" || type == "grub2-bls";
}

Result<Inspection> Sdbootutil::inspect(const System& system) const {
  return inspect_boot_partitions(system);
}

Result<Plan> Sdbootutil::plan(const System& system, const Request& request) const {
  Plan plan;
  const auto ours = has_ours(system);
  if (!ours) return fail(ours.error());
  const auto inspection = inspect(system);
  if (!inspection) return fail(inspection.error());
  const auto sources = read_sources(system);
  if (!sources) return fail(sources.error());
  const auto judgement = cmdline::judge(joined(*sources), request.arch);
  if (const auto contrary = cmdline::contradicts_passthrough(judgement);
      contrary && !request.force) {
    plan.conflict = locate(*sources, contrary->text);
    return plan;
  }
  if (!cmdline::is_untranslated(judgement.mode) || *ours) {
    if (auto added = add_settings(system, *sources, request, plan); !added)
      return fail(added.error());
  }
  const auto good = boots_untranslated(*inspection, request.arch);
  if (auto added = add_refresh(system, refresh(system), good, plan); !added) {
    return fail(added.error());
  }
  return plan;
}

Result<Plan> Sdbootutil::plan_revert(const System& system) const {
  Plan plan;
  const auto ours = has_ours(system);
  if (!ours) return fail(ours.error());
  if (*ours) plan.steps.emplace_back(RemoveFile{std::string(settings_path)});
  const auto ledger = load_ledger(system);
  if (!ledger) return fail(ledger.error());
  if (*ledger && find_path((*ledger)->edits, kernel_cmdline_path) != (*ledger)->edits.end()) {
    if (auto taken = take_kernel_cmdline(system, **ledger, plan); !taken)
      return fail(taken.error());
  }
  if (auto added = add_refresh_back(system, refresh(system), plan); !added) {
    return fail(added.error());
  }
  return plan;
}

}  // namespace peerpath::boot
