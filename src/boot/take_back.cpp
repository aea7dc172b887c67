// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/added_word.hpp"
#include "boot/apply.hpp"
#include "boot/edits.hpp"
#include "boot/ledger.hpp"
#include "boot/leftovers.hpp"
#include "boot/places.hpp"
#include "boot/regenerate.hpp"
#include "boot/tool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace peerpath::boot {
namespace {

/// A generated file that has its old content again gets its old time, too.
void restore_artefact(const System& system, const Ledger::Artefact& artefact) {
  const auto content = system.read(artefact.path);
  if (content && content->size() == artefact.size && digest_of(*content) == artefact.digest) {
    std::ignore = system.set_mtime(artefact.path, artefact.mtime);
  }
}

bool is_edited(const Plan& plan, std::string_view path) {
  return std::ranges::any_of(plan.steps, [&](const Step& step) {
    const auto* edit = std::get_if<EditFile>(&step);
    return edit != nullptr && edit->path == path;
  });
}

/// The files of ours that the plan or the ledger names, as far as they're there. Errors: conflict
/// where somebody else changed one since we wrote it.
Result<std::vector<std::string>> find_ours(const System& system, const Ledger& ledger,
                                           const Plan& plan) {
  std::vector<std::string> paths;
  const auto add = [&](const std::string& path) {
    if (std::ranges::find(paths, path) == paths.end() && system.link_info(path)) {
      paths.push_back(path);
    }
  };
  for (const auto& step : plan.steps) {
    if (const auto* remove = std::get_if<RemoveFile>(&step)) add(remove->path);
  }
  // One that the plan edits has become somebody else's: what's ours goes out of it.
  for (const auto& file : ledger.files) {
    if (!is_edited(plan, file.path)) add(file.path);
  }
  for (const auto& path : paths) {
    const auto known = find_path(ledger.files, path);
    if (known == ledger.files.end()) continue;
    const auto now = system.read(path);
    if (!now) return fail(now.error());
    if (*now == known->content) continue;
    return fail(Errc::conflict,
                fmt::format("'{}': changed by somebody else since peerpath wrote it, left alone, "
                            "and nothing is reverted; remove it, or what's peerpath's in it, and "
                            "run 'peerpath revert' again",
                            system.shown(path)));
  }
  return paths;
}

Result<> remove_all(const System& system, const std::vector<std::string>& paths, Applied& applied) {
  for (const auto& path : paths) {
    if (auto removed = system.remove_file(path); !removed) return removed;
    applied.changes.push_back({path, "remove"});
  }
  return {};
}

/// The directories that we made, once nothing else of ours is there, and the times of those above.
void clear_directories(const System& system, const Ledger& ledger) {
  remove_created(system, ledger);
  // A run that was killed before it could write the ledger leaves the directory alone.
  if (const auto left = system.list(state_directory); left && left->empty()) {
    std::ignore = system.remove_directory(state_directory);
  }
  restore_directories(system, ledger.directories);
}

/// What's taken out of others' files: what the plan says, and the ledger's own bytes where the
/// boot loader that they were for is gone.
std::vector<EditFile> edits_to_make(const System& system, const Ledger& ledger, const Plan& plan) {
  std::vector<EditFile> edits;
  for (const auto& step : plan.steps) {
    if (const auto* edit = std::get_if<EditFile>(&step)) edits.push_back(*edit);
  }
  for (const auto& known : ledger.edits) {
    if (find_path(edits, known.path) != edits.end()) continue;
    const auto text = system.read(known.path);
    if (!text) continue;
    if (auto edit = take_slice(ledger, known.path, *text)) edits.push_back(std::move(*edit));
  }
  return edits;
}

/// A file that has its old content again gets its old time, if nobody else touched it since.
void restore_time(const Ledger& ledger, Edited& file) {
  const auto known = find_path(ledger.edits, file.after.path);
  if (known == ledger.edits.end() || digest_of(file.after.content) != known->digest) return;
  if (!known->after || same_time(*known->after, *file.before.mtime)) {
    file.after.mtime = known->before;
  }
}

Result<> take_out(const System& system, const Ledger& ledger, const Plan& plan, Applied& applied) {
  std::vector<FileWrite> files;
  for (const auto& edit : edits_to_make(system, ledger, plan)) {
    auto read = edit_text(system, edit);
    if (!read) return fail(read.error());
    restore_time(ledger, *read);
    files.push_back(std::move(read->after));
  }
  if (auto written = write_batch(system, files); !written) return fail(written.error());
  for (const auto& file : files)
    applied.changes.push_back({file.path, "edit"});
  return {};
}

/// Brings the artefacts up to date. A failure is kept: the rest goes on.
void update_artefacts(const System& system, const Plan& plan, Applied& applied) {
  for (const auto& step : plan.steps) {
    Result<> done;
    if (const auto* generate = std::get_if<Regenerate>(&step)) {
      done = regenerate(system, *generate);
      if (done) applied.changes.push_back({generate->path, "generate"});
    } else if (const auto* tool = std::get_if<RunTool>(&step)) {
      done = run_tool(system, *tool);
      if (done) applied.changes.push_back({tool->artefacts, "update"});
    }
    if (!done) applied.not_generated = std::move(done.error());
  }
}

/// Notes that what happens to the directories from here on is our doing, so that a run that's
/// killed can be finished by the next one. Where there's no space for that, only times are at
/// stake.
void open_again(const System& system, Ledger& ledger) {
  for (auto& directory : ledger.directories)
    directory.after.reset();
  std::ignore = save_ledger(system, ledger);
}

}  // namespace

Result<Applied> apply_revert(const System& system, const Plan& plan) {
  const auto loaded = load_ledger(system);
  if (!loaded) return fail(loaded.error());
  auto ledger = loaded->value_or(Ledger{});
  ledger.directories = untouched_directories(system, ledger);
  const auto ours = find_ours(system, ledger, plan);
  if (!ours) return fail(ours.error());
  Applied applied;
  if (*loaded) open_again(system, ledger);

  if (auto done = remove_all(system, *ours, applied); !done) return fail(done.error());
  if (auto done = take_out(system, ledger, plan, applied); !done) return fail(done.error());
  update_artefacts(system, plan, applied);
  if (*loaded && (!plan.deferred.empty() || applied.not_generated)) {
    // Not done yet: the ledger stays for the run that can finish.
    auto rest = ledger;
    close_directories(system, rest);
    rest.files.clear();
    rest.edits.clear();
    if (auto saved = save_ledger(system, rest); !saved) return fail(saved.error());
    return applied;
  }
  for (const auto& artefact : ledger.artefacts)
    restore_artefact(system, artefact);
  clear_leftovers(system, ledger);
  // While there's a ledger: without one nobody knows the times.
  clear_directories(system, ledger);
  if (*loaded) {
    if (auto removed = system.remove_file(ledger_path); !removed) return fail(removed.error());
    applied.changes.push_back({std::string(ledger_path), "remove"});
  }
  clear_directories(system, ledger);
  return applied;
}

}  // namespace peerpath::boot
