// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/bls.hpp"

#include "base/text.hpp"
#include "boot/added_word.hpp"
#include "boot/bls_entry.hpp"
#include "boot/bls_files.hpp"
#include "boot/bls_inspect.hpp"
#include "boot/judge_entry.hpp"
#include "boot/kernel_cmdline.hpp"
#include "boot/ledger.hpp"
#include "boot/platform.hpp"
#include "cmdline/why_not.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

/// Silent, since what it says would go into grub.cfg, and always successful, since a failure would
/// fail grub2-mkconfig.
constexpr std::string_view healing_script = R"(#!/bin/sh
# Written by peerpath; `peerpath revert` removes it.
# grub2-mkconfig may have written the options of every boot loader entry anew.
if [ -x /usr/sbin/peerpath ]; then
  /usr/sbin/peerpath ensure >/dev/null 2>&1
fi
exit 0
)";

/// GRUB splits a line at its first space: one that has only tabs must not get any.
EditFile add_to(const BlsFile& file, Slice options, std::string_view words) {
  auto edit = add_word(file.path, file.text, options, words);
  const std::string_view text = file.text;
  const auto end = std::min(text.find('\n', options.end), text.size());
  const auto begin = text.substr(0, options.begin).rfind('\n') + 1;
  const auto line = text.substr(begin, end - begin);
  if (line.find(' ') == std::string_view::npos && line.find('\t') != std::string_view::npos) {
    std::ranges::replace(edit.inserted, ' ', '\t');
  }
  return edit;
}

/// Puts the word into an entry: at the end of its first `options`, which GRUB reads alone; of the
/// last where only systemd-boot does, so that it comes after all others; or in a line of its own.
Result<EditFile> edit_of(const System& system, const BlsFile& file, const BlsReaders& readers,
                         std::string_view word) {
  const auto bls = parse_bls_entry(file.text);
  const auto options = bls.all("options");
  if (!options.empty()) {
    const auto& field = readers.grub ? options.front() : options.back();
    // To GRUB a line without a value is none.
    const bool none = readers.grub && !grub_value(file.text, "options");
    if (!none || !field.value.of(file.text).empty()) {
      return add_to(file, unquoted(file.text, field.value), word);
    }
  }
  if (readers.grub && readers.systemd_boot) {
    return fail(Errc::unsupported,
                fmt::format("'{}': it has no 'options' line, and GRUB and systemd-boot are both "
                            "installed, which take that differently; add one with '{}'",
                            system.shown(file.path), word));
  }
  // A line of ours would take the place of GRUB's variable, and `root=` with it.
  const auto words = fmt::format("{}{}", readers.grub ? "$default_kernelopts " : "", word);
  if (!options.empty()) return add_to(file, options.front().value, words);
  const auto line = fmt::format("options {}\n", words);
  const bool ended = file.text.empty() || file.text.ends_with('\n');
  return EditFile{file.path, file.text.size(), "", (ended ? "" : "\n") + line};
}

/// Why the word at the end of an entry's options doesn't come to passthrough.
std::string why_no_use(std::string_view after, const Entry& entry, const BlsReaders& readers,
                       cmdline::Arch arch) {
  const auto word = cmdline::passthrough_word(arch);
  if (readers.grub) {
    const auto options = grub_value(after, "options");
    if (!options || options->find(word) == std::string_view::npos) {
      return "GRUB doesn't read these lines as the options of a kernel";
    }
    const auto commands = parse_grub_script("linux " + std::string(*options));
    if (!commands) return "GRUB can't parse them: " + commands.error().message;
  }
  for (const auto& line : entry.command_lines) {
    if (cmdline::is_untranslated(cmdline::judge(line, arch).mode)) continue;
    return cmdline::why_not_in_force(line, word, arch);
  }
  return "what the kernel gets isn't known";
}

/// Whether the edit does what it's for. A quote without an end would swallow the word.
Result<> check_edit(const System& system, const BlsFile& file, const Entry& before,
                    const EditFile& edit, const BlsReaders& readers, cmdline::Arch arch) {
  const auto after = edited(file.text, edit).value_or("");
  auto entry = before;
  entry.command_lines = bls_command_lines(parse_bls_entry(after), readers);
  const auto judged = judge_entries({std::move(entry)}, arch);
  if (judged.front().untranslated()) return {};
  return fail(Errc::unsupported,
              fmt::format("'{}:{}': '{}' at the end of these options wouldn't work: {}",
                          system.shown(file.path), judged.front().entry.line,
                          cmdline::passthrough_word(arch),
                          why_no_use(after, judged.front().entry, readers, arch)));
}

/// The entry's path without its boot counter, which a good boot takes away.
std::string lasting_name(const std::string& path) {
  constexpr std::string_view suffix = ".conf";
  const auto stem = std::string_view(path).substr(0, path.size() - suffix.size());
  return std::string(without_boot_counter(stem)) + std::string(suffix);
}

/// The administrator's word stays in this file, whatever becomes of it.
void note_theirs(const BlsFile& file, std::string_view word, Plan& plan) {
  const auto bls = parse_bls_entry(file.text);
  if (std::ranges::any_of(bls.all("options"), [&](const BlsField& field) {
        return has_word(unquoted(bls.text, field.value).of(bls.text), word);
      })) {
    plan.theirs.push_back(lasting_name(file.path));
  }
}

Result<> add_entry(const System& system, const FoundBlsEntry& found, const BlsReaders& readers,
                   const Request& request, Plan& plan) {
  const auto word = cmdline::passthrough_word(request.arch);
  note_theirs(found.file, word, plan);
  if (found.judged.untranslated()) return {};
  if (!request.force) {
    plan.conflict = conflict_in(found.judged.entry, request.arch);
    if (plan.conflict) return {};
  }
  auto edit = edit_of(system, found.file, readers, word);
  if (!edit) return fail(edit.error());
  edit->read = FileText{found.file.text, found.file.info};
  const auto good =
      check_edit(system, found.file, found.judged.entry, *edit, readers, request.arch);
  if (!good) return fail(good.error());
  plan.steps.emplace_back(std::move(*edit));
  return {};
}

/// The script in /etc/grub.d, where GRUB reads the entries and has a generator.
Result<> add_healing(const System& system, Plan& plan) {
  const std::string path(Bls::healing_path);
  if (!system.exists(directory_of(path))) return {};
  const auto now = system.read(path);
  if (now && *now == healing_script) return {};
  if (system.link_info(path) && (!now || now->find("Written by peerpath") == std::string::npos)) {
    return fail(Errc::conflict,
                fmt::format("'{}': not written by peerpath, left alone", system.shown(path)));
  }
  plan.steps.emplace_back(WriteFile{path, std::string(healing_script), 0755});
  return {};
}

void take_from_entry(const System& system, const Ledger& ledger, const BlsFile& file, Plan& plan) {
  const auto bls = parse_bls_entry(file.text);
  if (!is_ours(ledger, lasting_name(file.path)) || left_alone(file, bls)) return;
  if (auto exact = take_slice(ledger, file.path, file.text)) {
    plan.steps.emplace_back(std::move(*exact));
    return;
  }
  for (const auto& field : bls.all("options")) {
    for (const auto arch : arches_of_words(system)) {
      auto edit = take_word(ledger, file.path, file.text, unquoted(file.text, field.value),
                            cmdline::passthrough_word(arch));
      if (!edit) continue;
      plan.steps.emplace_back(std::move(*edit));
      return;
    }
  }
}

}  // namespace

bool Bls::detect(const System& system) const {
  if (has_bls_files(system)) return true;
  const auto readers = find_bls_readers(system);
  return !readers || readers->grub;
}

bool Bls::reads_esp(const System& system) const {
  const auto readers = find_bls_readers(system);
  return !readers || readers->systemd_boot;
}

Result<Inspection> Bls::inspect(const System& system) const {
  auto inspection = inspect_bls(system);
  const auto healing = system.info(healing_path);
  // That's how an administrator switches a script off, so it's theirs to say.
  if (inspection && healing && (healing->mode & 0111U) == 0) {
    inspection->notes.push_back(
        fmt::format("'{}': not executable: what grub2-mkconfig writes anew stays without the word",
                    system.shown(healing_path)));
  }
  return inspection;
}

Result<Plan> Bls::plan(const System& system, const Request& request) const {
  Plan plan;
  const auto all = read_bls_entries(system, request.arch);
  if (!all) return fail(all.error());
  // New kernels first: one that comes in between gets the word in either case.
  if (auto added = add_kernel_cmdline(system, request, plan); !added) return fail(added.error());
  if (all->readers.grub && !plan.conflict) {
    if (auto added = add_healing(system, plan); !added) return fail(added.error());
  }
  for (const auto& file : all->others)
    note_theirs(file, cmdline::passthrough_word(request.arch), plan);
  for (const auto& found : all->found) {
    if (plan.conflict) break;
    auto added = add_entry(system, found, all->readers, request, plan);
    if (!added) return fail(added.error());
  }
  if (plan.conflict) plan.steps.clear();
  return plan;
}

Result<Plan> Bls::plan_revert(const System& system) const {
  Plan plan;
  const auto healing = system.read(healing_path);
  if (healing && healing->find("Written by peerpath") != std::string::npos) {
    plan.steps.emplace_back(RemoveFile{std::string(healing_path)});
  }
  const auto ledger = load_ledger(system);
  if (!ledger) return fail(ledger.error());
  // Nothing in an entry tells our word from the administrator's.
  if (!*ledger) return plan;
  const auto files = read_bls_files(system);
  if (!files) return fail(files.error());
  for (const auto& file : *files)
    take_from_entry(system, **ledger, file, plan);
  if (auto taken = take_kernel_cmdline(system, **ledger, plan); !taken) return fail(taken.error());
  return plan;
}

}  // namespace peerpath::boot
