// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/grub_block.hpp"

#include "base/text.hpp"
#include "boot/added_word.hpp"
#include "boot/grub_addition.hpp"
#include "boot/grub_config.hpp"
#include "boot/judge_entry.hpp"
#include "boot/ledger.hpp"
#include "boot/platform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace peerpath::boot {
namespace {

// The lines of the block are indented: tools that look for a line that begins with
// a variable's name, and write it anew, find the administrator's.
// Without quotes: where the text before it makes a command of this line, it mustn't run anything.
constexpr std::string_view block_begin = "# BEGIN peerpath (peerpath revert removes this block)\n";
constexpr std::string_view block_end = "# END peerpath\n";

std::string block(const System& system, const Request& request) {
  const auto addition = grub_addition(system, request);
  std::string text(block_begin);
  for (const auto line : lines(addition))
    text += fmt::format("  {}\n", line);
  return text + std::string(block_end);
}

/// /etc/default/grub with our block in it, or not.
struct Settings {
  std::string text;  ///< empty where there's no such file
  bool exists = false;
  std::optional<Slice> ours;  ///< the block, with the line end before it that came with it
};

Result<Settings> read_settings(const System& system) {
  Settings settings;
  if (!system.link_info(grub_settings_path)) return settings;
  auto text = system.read(grub_settings_path);
  if (!text) return fail(text.error());
  settings.text = std::move(*text);
  settings.exists = true;
  const auto begin = settings.text.find(block_begin);
  if (begin == std::string::npos) return settings;
  const auto end = settings.text.find(block_end, begin);
  const auto malformed = [&](std::size_t at, std::string_view what) {
    const auto before = std::string_view(settings.text).substr(0, at);
    return fail(Errc::malformed, fmt::format("'{}': line {}: {}", system.shown(grub_settings_path),
                                             std::ranges::count(before, '\n') + 1, what));
  };
  if (end == std::string::npos) return malformed(begin, "peerpath's block has no end");
  settings.ours = Slice{begin, end + block_end.size()};
  if (const auto again = settings.text.find(block_begin, settings.ours->end);
      again != std::string::npos) {
    return malformed(again, "peerpath's block is there a second time; remove one of the two");
  }
  return settings;
}

EditFile take_block(const Settings& settings) {
  return {std::string(grub_settings_path), settings.ours->begin,
          std::string(settings.ours->of(settings.text)), ""};
}

/// The settings as they're without us.
std::string text_without(const Settings& settings) {
  return settings.ours ? edited(settings.text, take_block(settings)).value_or("") : settings.text;
}

/// Puts the block in, or the right one in the place of an older one.
EditFile put_block(const Settings& settings, const std::string& wanted) {
  EditFile edit{std::string(grub_settings_path), settings.text.size(), "", wanted};
  if (settings.ours) {
    edit.offset = settings.ours->begin;
    edit.removed = settings.ours->of(settings.text);
  } else {
    // A line that ends with a backslash goes on in the next one: that one is to be empty.
    const std::string_view text = settings.text;
    const bool ended = text.empty() || text.ends_with('\n');
    const bool goes_on = text.ends_with('\\') || text.ends_with("\\\n");
    edit.inserted = (ended ? "" : "\n") + std::string(goes_on ? "\n" : "") + wanted;
  }
  return edit;
}

std::optional<std::string> find_mkconfig(const System& system) {
  for (const auto* path : {"/usr/sbin/grub2-mkconfig", "/usr/sbin/grub-mkconfig",
                           "/usr/bin/grub2-mkconfig", "/usr/bin/grub-mkconfig"}) {
    if (system.exists(path)) return path;
  }
  return std::nullopt;
}

GrubGenerator generator(const System& system) {
  const auto mkconfig = find_mkconfig(system).value_or("/usr/sbin/grub2-mkconfig");
  const auto name = base_name(mkconfig);
  GrubGenerator generator{mkconfig, name.substr(0, name.find('-')) + "-probe",
                          find_grub_configs(system), name};
  // Links and the paths behind them were told apart already; the first is what people name.
  if (!generator.configs.empty()) generator.command += " -o " + generator.configs.front();
  return generator;
}

Result<GrubSettings> evaluate(const System& system, const std::string& text) {
  return evaluate_grub_settings(system, SettingsChange{std::string(grub_settings_path), text},
                                SettingsFiles::main_alone);
}

/// Whether a line of the administrator's sets one of the two variables.
bool assigns(std::string_view line) {
  line = trim(line);
  return line.starts_with("GRUB_CMDLINE_LINUX=") || line.starts_with("GRUB_CMDLINE_LINUX_DEFAULT=");
}

/// Our word in an assignment of the administrator's, with the blank before it: a tool that writes
/// back what the shell made of the settings puts it there.
std::optional<EditFile> take_leaked_word(const System& system, const std::string& text) {
  for (const auto line : lines(text)) {
    if (!assigns(line)) continue;
    for (const auto arch : arches_of_words(system)) {
      const auto slice = " " + std::string(cmdline::passthrough_word(arch));
      const auto at = line.find(slice);
      if (at == std::string_view::npos) continue;
      const auto after = line.substr(at + slice.size());
      if (!after.empty() && after.find_first_of(" \t\"'") != 0) continue;
      const auto offset = static_cast<std::size_t>(line.data() - text.data()) + at;
      return EditFile{std::string(grub_settings_path), offset, slice, ""};
    }
  }
  return std::nullopt;
}

bool mentions_word(const System& system, const std::string& text) {
  return take_leaked_word(system, text).has_value();
}

/// What takes all of ours out of /etc/default/grub: the block, or what the ledger says, or else
/// the word that a tool put into the administrator's line. One edit a run is enough.
Result<std::optional<EditFile>> take_settings(const System& system) {
  const auto settings = read_settings(system);
  if (!settings) return fail(settings.error());
  const auto loaded = load_ledger(system);
  if (!loaded) return fail(loaded.error());
  const auto ledger = loaded->value_or(Ledger{});
  const std::string path(grub_settings_path);
  if (auto exact = take_slice(ledger, path, settings->text)) return exact;
  if (settings->ours) return take_block(*settings);
  const bool was_edited = find_path(ledger.edits, path) != ledger.edits.end();
  if (!was_edited || !is_ours(ledger, path)) return std::optional<EditFile>{};
  return take_leaked_word(system, settings->text);
}

/// Whether it's a file that we made, as we made it.
bool is_unchanged_file(const System& system, const std::optional<Ledger>& ledger,
                       std::string_view path) {
  if (!ledger) return false;
  const auto known = find_path(ledger->files, path);
  const auto now = system.read(path);
  return known != ledger->files.end() && now && *now == known->content;
}

}  // namespace

bool GrubBlock::detect(const System& system) const {
  const auto mkconfig = find_mkconfig(system);
  if (!mkconfig) return false;
  const auto text = system.read(*mkconfig);
  if (!text || text->find("default/grub.d") != std::string::npos) return false;
  const auto configs = find_grub_configs(system);
  return std::ranges::none_of(configs, [&](const std::string& path) {
    const auto config = read_grub_config(system, path);
    return config && config->takes_bls_entries;
  });
}

Result<Inspection> GrubBlock::inspect(const System& system) const {
  Inspection all;
  const auto configs = find_grub_configs(system);
  for (const auto& path : configs) {
    auto config = read_grub_config(system, path);
    if (!config) return fail(config.error());
    std::ranges::move(config->entries, std::back_inserter(all.entries));
    std::ranges::move(config->notes, std::back_inserter(all.notes));
    std::ranges::move(config->unfollowed, std::back_inserter(all.unfollowed));
  }
  if (configs.empty()) all.missing = "/boot/grub2/grub.cfg";
  return all;
}

Result<Inspection> GrubBlock::inspect_artefact(const System& system, const std::string& path,
                                               const std::string& content) const {
  auto config = parse_grub_config(system, path, content);
  if (!config) return fail(config.error());
  return std::move(*config);
}

Result<Plan> GrubBlock::plan(const System& system, const Request& request) const {
  Plan plan;
  const auto settings = read_settings(system);
  if (!settings) return fail(settings.error());
  std::optional<std::string_view> block_there;
  if (settings->ours) block_there = settings->ours->of(settings->text);
  const auto wanted = standing_request(request, block_there);
  const auto inspection = inspect(system);
  if (!inspection) return fail(inspection.error());
  const auto entries = judge_entries(inspection->entries, wanted.arch);

  if (settings->exists && mentions_word(system, text_without(*settings))) {
    plan.theirs.emplace_back(grub_settings_path);
  }
  const auto theirs = evaluate(system, text_without(*settings));
  if (!theirs) return fail(theirs.error());
  auto conflict = find_conflict(system, *theirs, "", entries, wanted);
  if (!conflict) return fail(conflict.error());
  if (*conflict) {
    plan.conflict = std::move(**conflict);
    return plan;
  }

  const auto satisfied = makes_untranslated(*theirs, wanted.arch);
  if (!satisfied) return fail(satisfied.error());
  if (!*satisfied || settings->ours) {
    const auto edit = put_block(*settings, block(system, wanted));
    const auto after = evaluate(system, edited(settings->text, edit).value_or(""));
    if (!after) return fail(after.error());
    const auto good = check_grub_addition(system, edit.path, wanted, *theirs, *after);
    if (!good) return fail(good.error());
    if (!settings->exists) {
      plan.steps.emplace_back(WriteFile{edit.path, edit.inserted});
    } else if (edit.removed != edit.inserted) {
      plan.steps.emplace_back(edit);
    }
  }
  if (is_stale(entries, !plan.steps.empty()) || inspection->missing) {
    const auto added = add_generation(system, *this, generator(system), "brings the word", plan);
    if (!added) return fail(added.error());
  }
  return plan;
}

Result<Plan> GrubBlock::plan_revert(const System& system) const {
  Plan plan;
  auto edit = take_settings(system);
  if (!edit) return fail(edit.error());
  const auto ledger = load_ledger(system);
  if (!ledger) return fail(ledger.error());
  const bool unfinished = *ledger && !(*ledger)->artefacts.empty();
  if (!*edit && !unfinished) return plan;
  const bool whole_file_is_ours = is_unchanged_file(system, *ledger, grub_settings_path);
  if (*edit && !whole_file_is_ours) plan.steps.emplace_back(std::move(**edit));

  const auto inspection = inspect(system);
  if (!inspection) return fail(inspection.error());
  if (std::ranges::none_of(inspection->entries, has_word_of_ours)) return plan;
  const auto added = add_generation(system, *this, generator(system), "takes the word away", plan);
  if (!added) return fail(added.error());
  return plan;
}

}  // namespace peerpath::boot
