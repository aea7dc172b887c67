// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/apply.hpp"

#include "base/text.hpp"
#include "boot/judge_entry.hpp"
#include "boot/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace peerpath::boot {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

template <class Items>
auto find_path(Items& items, const std::string& path) {
  return std::find_if(items.begin(), items.end(),
                      [&](const auto& item) { return item.path == path; });
}

/// Remembers a directory's time before we change something in it.
Result<> note_directory(const System& system, Ledger& ledger, const std::string& path) {
  const auto info = system.info(path);
  if (!info) return fail(info.error());
  const auto known = find_path(ledger.directories, path);
  if (known == ledger.directories.end()) {
    ledger.directories.push_back({path, info->mtime});
    return {};
  }
  // Somebody else was here after us: theirs is the time to go back to.
  if (known->after && !same_time(*known->after, info->mtime)) known->before = info->mtime;
  known->after.reset();
  return {};
}

/// Notes a directory in which something will be made, or those that have to be made for it.
Result<> note_place(const System& system, Ledger& ledger, const std::string& path) {
  if (system.exists(path)) return note_directory(system, ledger, path);
  if (auto noted = note_place(system, ledger, directory_of(path)); !noted) return noted;
  if (std::find(ledger.created.begin(), ledger.created.end(), path) == ledger.created.end()) {
    ledger.created.push_back(path);
  }
  return {};
}

/// Makes those of the noted directories that lead to a path.
Result<> make_place(const System& system, const Ledger& ledger, const std::string& path) {
  for (const auto& directory : ledger.created) {
    const bool leads_there = path == directory || path.starts_with(directory + "/");
    if (!leads_there || system.exists(directory)) continue;
    if (auto made = system.make_directory(directory); !made) return made;
  }
  return {};
}

/// Notes where the directories stand after our changes, so that `revert` can tell whether
/// somebody else changed them since.
void close_directories(const System& system, Ledger& ledger) {
  for (auto& directory : ledger.directories) {
    if (const auto info = system.info(directory.path)) directory.after = info->mtime;
  }
}

/// Gives the directories back their old times, the deepest first.
void restore_directories(const System& system, const std::vector<Ledger::Directory>& directories) {
  for (auto directory = directories.rbegin(); directory != directories.rend(); ++directory) {
    // A directory that's gone needs no time; nothing hangs on one that can't be set.
    std::ignore = system.set_mtime(directory->path, directory->before);
  }
}

void remove_created(const System& system, const Ledger& ledger) {
  for (auto path = ledger.created.rbegin(); path != ledger.created.rend(); ++path) {
    // One that somebody else uses by now isn't empty, and stays.
    std::ignore = system.remove_directory(*path);
  }
}

std::string last_line(const std::string& text) {
  const auto all = lines(trim(text));
  return all.empty() ? "no message" : printable(trim(all.back()));
}

/// Runs the generator and puts its file into place if nothing is lost by that. What's put there
/// are the very bytes that were audited, in a file of our own: a generator that outlived a run of
/// ours that was killed may still write to the one that it was given.
Result<> regenerate(const System& system, const BootLoader& loader, const Regenerate& step) {
  const auto fresh = step.path + ".peerpath-new";
  // grub-mkconfig itself works in FILE.new; either may be left over from a run that was killed.
  const auto clear = [&] {
    for (const auto& path : {fresh, fresh + ".new"}) {
      if (system.link_info(path)) std::ignore = system.remove_file(path);
    }
  };
  clear();
  const auto failed = [&](Errc code, const std::string& why) {
    clear();
    return fail(code, fmt::format("'{}' stays as it is: {}", system.shown(step.path), why));
  };
  Command command{.argv = step.command, .limit = std::chrono::minutes(10)};
  command.argv.push_back(fresh);
  const auto result = system.run(command);
  if (!result) return failed(result.error().code, result.error().text());
  if (result->status != 0) {
    return failed(Errc::command_failed,
                  fmt::format("'{}' ended with status {}: {}", step.command.front(), result->status,
                              last_line(result->err)));
  }
  const auto old_text = system.read(step.path);
  if (!old_text) return failed(old_text.error().code, old_text.error().text());
  const auto new_text = system.read(fresh);
  if (!new_text) return failed(Errc::command_failed, "the generator wrote nothing");
  const auto before = loader.inspect_artefact(system, step.path, *old_text);
  if (!before) return failed(before.error().code, before.error().text());
  const auto after = loader.inspect_artefact(system, step.path, *new_text);
  if (!after) return failed(after.error().code, after.error().text());
  if (const auto lost = lost_entries(*before, *after)) {
    return failed(Errc::command_failed, fmt::format("the new one from '{}' can't be trusted: {}",
                                                    step.command.front(), *lost));
  }
  // Mode and owner stay, as they do when grub-mkconfig writes over an existing file.
  auto written = system.write(step.path, *new_text);
  clear();
  return written;
}

/// Adds the word, step by step, with a way back.
class Applier {
 public:
  Applier(const System& system, const BootLoader& loader, bool force)
      : system_(system), loader_(loader), force_(force) {}

  Result<Applied> run(const Plan& plan) {
    if (plan.steps.empty()) return Applied{};
    auto loaded = load_ledger(system_);
    if (!loaded) return fail(loaded.error());
    before_ = *loaded;
    ledger_ = loaded->value_or(Ledger{std::string(loader_.name())});
    if (const auto ours = check_unedited(plan); !ours) return fail(ours.error());
    auto done = begin(plan);
    for (auto step = plan.steps.begin(); done && step != plan.steps.end(); ++step) {
      done = carry_out(*step);
    }
    if (done) done = finish();
    if (done) return std::move(applied_);
    return undo(std::move(done.error()));
  }

 private:
  [[nodiscard]] Result<> check_unedited(const Plan& plan) const {
    for (const auto& step : plan.steps) {
      const auto* write = std::get_if<WriteFile>(&step);
      if (write == nullptr || force_) continue;
      const auto known = find_path(ledger_.files, write->path);
      const auto now = system_.read(write->path);
      if (known == ledger_.files.end() || !now || *now == known->content) continue;
      return fail(Errc::conflict, fmt::format("'{}': changed by somebody else since peerpath "
                                              "wrote it, left alone (--force writes it anew)",
                                              system_.shown(write->path)));
    }
    return {};
  }

  /// Writes down what will be done, before it's done.
  Result<> begin(const Plan& plan) {
    const std::string state(state_directory);
    if (!system_.exists(state)) {
      if (auto noted = note_place(system_, ledger_, state); !noted) return noted;
    }
    for (const auto& step : plan.steps) {
      auto noted = std::visit(Overloaded{
                                  [&](const WriteFile& write) { return note(write); },
                                  [&](const RemoveFile&) { return Result<>{}; },
                                  [&](const Regenerate& generate) { return note(generate); },
                              },
                              step);
      if (!noted) return noted;
    }
    if (auto made = make_place(system_, ledger_, state); !made) return made;
    return save_ledger(system_, ledger_);
  }

  Result<> note(const WriteFile& write) {
    if (auto noted = note_place(system_, ledger_, directory_of(write.path)); !noted) return noted;
    const auto known = find_path(ledger_.files, write.path);
    if (known == ledger_.files.end()) {
      ledger_.files.push_back({write.path, write.content});
      return {};
    }
    known->content = write.content;
    return {};
  }

  Result<> note(const Regenerate& generate) {
    if (auto noted = note_directory(system_, ledger_, directory_of(generate.path)); !noted) {
      return noted;
    }
    if (find_path(ledger_.artefacts, generate.path) != ledger_.artefacts.end()) return {};
    const auto content = system_.read(generate.path);
    if (!content) return fail(content.error());
    const auto info = system_.info(generate.path);
    if (!info) return fail(info.error());
    ledger_.artefacts.push_back({generate.path, content->size(), digest_of(*content), info->mtime});
    return {};
  }

  Result<> carry_out(const Step& step) {
    return std::visit(Overloaded{
                          [&](const WriteFile& write) { return carry_out(write); },
                          [&](const RemoveFile& remove) { return carry_out(remove); },
                          [&](const Regenerate& generate) {
                            auto done = regenerate(system_, loader_, generate);
                            if (done) applied_.changes.push_back({generate.path, "generate"});
                            if (!done) applied_.not_generated = std::move(done.error());
                            return Result<>{};
                          },
                      },
                      step);
  }

  Result<> carry_out(const WriteFile& write) {
    if (auto made = make_place(system_, ledger_, directory_of(write.path)); !made) return made;
    const auto old = system_.read(write.path);
    if (!old && old.error().code != Errc::not_found) return fail(old.error());
    if (auto written = system_.write(write.path, write.content); !written) return written;
    undo_.emplace_back([this, path = write.path, old] {
      return old ? system_.write(path, *old) : system_.remove_file(path);
    });
    applied_.changes.push_back({write.path, "write"});
    return {};
  }

  Result<> carry_out(const RemoveFile& remove) {
    const auto old = system_.read(remove.path);
    if (!old) return fail(old.error());
    if (auto removed = system_.remove_file(remove.path); !removed) return removed;
    undo_.emplace_back([this, path = remove.path, old] { return system_.write(path, *old); });
    applied_.changes.push_back({remove.path, "remove"});
    return {};
  }

  Result<> finish() {
    close_directories(system_, ledger_);
    return save_ledger(system_, ledger_);
  }

  /// Takes back what was done. What can't be taken back is said with the first error.
  Result<Applied> undo(Error error) {
    std::vector<std::string> failures;
    for (auto step = undo_.rbegin(); step != undo_.rend(); ++step) {
      if (const auto undone = (*step)(); !undone) failures.push_back(undone.error().text());
    }
    if (before_) {
      if (const auto saved = save_ledger(system_, *before_); !saved) {
        failures.push_back(saved.error().text());
      }
    } else {
      if (system_.link_info(ledger_path)) std::ignore = system_.remove_file(ledger_path);
      remove_created(system_, ledger_);
      restore_directories(system_, ledger_.directories);
    }
    if (!failures.empty()) {
      error.message += fmt::format(" (and undoing it: {})", join(failures, "; "));
    }
    return fail(std::move(error));
  }

  const System& system_;
  const BootLoader& loader_;
  bool force_;
  std::optional<Ledger> before_;
  Ledger ledger_;
  Applied applied_;
  std::vector<std::function<Result<>()>> undo_;
};

/// The directories that are still as we left them.
std::vector<Ledger::Directory> untouched(const System& system, const Ledger& ledger) {
  std::vector<Ledger::Directory> result;
  for (const auto& directory : ledger.directories) {
    const auto info = system.info(directory.path);
    // Without `after` a run was cut off: its own changes are the likeliest.
    if (info && (!directory.after || same_time(*directory.after, info->mtime))) {
      result.push_back(directory);
    }
  }
  return result;
}

/// A generated file that has its old content again gets its old time, too.
void restore_artefact(const System& system, const Ledger::Artefact& artefact) {
  const auto content = system.read(artefact.path);
  if (content && content->size() == artefact.size && digest_of(*content) == artefact.digest) {
    std::ignore = system.set_mtime(artefact.path, artefact.mtime);
  }
}

/// What runs that were killed left half-written beside the files.
void clear_leftovers(const System& system, const Ledger& ledger) {
  std::vector<std::string> paths{std::string(ledger_path)};
  for (const auto& file : ledger.files)
    paths.push_back(file.path);
  for (const auto& artefact : ledger.artefacts) {
    paths.push_back(artefact.path);
    for (const auto* suffix : {".peerpath-new", ".peerpath-new.new"}) {
      if (system.link_info(artefact.path + suffix)) {
        std::ignore = system.remove_file(artefact.path + suffix);
      }
    }
  }
  for (const auto& path : paths)
    std::ignore = system.remove_leftover(path);
}

Result<> remove_ours(const System& system, const Ledger& ledger, const std::string& path,
                     Applied& applied) {
  if (!system.link_info(path)) return {};
  const auto known = find_path(ledger.files, path);
  if (known != ledger.files.end()) {
    const auto now = system.read(path);
    if (!now) return fail(now.error());
    if (*now != known->content) {
      return fail(Errc::conflict,
                  fmt::format("'{}': changed by somebody else since peerpath wrote it, left alone",
                              system.shown(path)));
    }
  }
  if (auto removed = system.remove_file(path); !removed) return removed;
  applied.changes.push_back({path, "remove"});
  return {};
}

/// The files of ours that the plan or the ledger names.
Result<> remove_all_ours(const System& system, const Ledger& ledger, const Plan& plan,
                         Applied& applied) {
  std::vector<std::string> paths;
  for (const auto& step : plan.steps) {
    if (const auto* remove = std::get_if<RemoveFile>(&step)) paths.push_back(remove->path);
  }
  for (const auto& file : ledger.files)
    paths.push_back(file.path);
  for (const auto& path : paths) {
    if (auto done = remove_ours(system, ledger, path, applied); !done) return done;
  }
  return {};
}

/// Leftovers and directories, once nothing else of ours is there.
void clear_up(const System& system, const Ledger& ledger) {
  clear_leftovers(system, ledger);
  remove_created(system, ledger);
  // A run that was killed before it could write the ledger leaves the directory alone.
  if (const auto left = system.list(state_directory); left && left->empty()) {
    std::ignore = system.remove_directory(state_directory);
  }
}

}  // namespace

std::vector<Change> changes_of(const Plan& plan) {
  std::vector<Change> changes;
  for (const auto& step : plan.steps) {
    changes.push_back(std::visit(Overloaded{
                                     [](const WriteFile& write) {
                                       return Change{write.path, "write"};
                                     },
                                     [](const RemoveFile& remove) {
                                       return Change{remove.path, "remove"};
                                     },
                                     [](const Regenerate& generate) {
                                       return Change{generate.path, "generate"};
                                     },
                                 },
                                 step));
  }
  return changes;
}

Result<Applied> apply(const System& system, const BootLoader& loader, const Plan& plan,
                      bool force) {
  return Applier(system, loader, force).run(plan);
}

Result<Applied> apply_revert(const System& system, const BootLoader* loader, const Plan& plan) {
  const auto loaded = load_ledger(system);
  if (!loaded) return fail(loaded.error());
  const auto ledger = loaded->value_or(Ledger{});
  const auto directories = untouched(system, ledger);
  Applied applied;

  if (auto done = remove_all_ours(system, ledger, plan, applied); !done) return fail(done.error());
  for (const auto& step : plan.steps) {
    if (const auto* generate = std::get_if<Regenerate>(&step); generate && loader != nullptr) {
      auto done = regenerate(system, *loader, *generate);
      if (done) applied.changes.push_back({generate->path, "generate"});
      if (!done) applied.not_generated = std::move(done.error());
    }
  }
  if (*loaded && (plan.deferred || applied.not_generated)) {
    // Not done yet: the ledger stays for the run that can finish.
    auto rest = ledger;
    rest.files.clear();
    if (auto saved = save_ledger(system, rest); !saved) return fail(saved.error());
    return applied;
  }
  for (const auto& artefact : ledger.artefacts)
    restore_artefact(system, artefact);
  if (*loaded) {
    if (auto removed = system.remove_file(ledger_path); !removed) return fail(removed.error());
    applied.changes.push_back({std::string(ledger_path), "remove"});
  }
  clear_up(system, ledger);
  restore_directories(system, directories);
  return applied;
}

}  // namespace peerpath::boot
