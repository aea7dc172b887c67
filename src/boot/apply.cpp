// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/apply.hpp"

#include "base/text.hpp"
#include "boot/edits.hpp"
#include "boot/ledger.hpp"
#include "boot/leftovers.hpp"
#include "boot/places.hpp"
#include "boot/produce.hpp"
#include "boot/regenerate.hpp"
#include "boot/tool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace peerpath::boot {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

/// Adds the word, step by step, with a way back.
class Applier {
 public:
  Applier(const System& system, bool force) : system_(system), force_(force) {}

  Result<Applied> run(const Plan& plan, const std::vector<std::string>& boot_loaders) {
    if (plan.steps.empty()) return complete();
    auto loaded = load_ledger(system_);
    if (!loaded) return fail(loaded.error());
    before_ = *loaded;
    ledger_ = loaded->value_or(Ledger{.theirs = plan.theirs});
    ledger_.boot_loaders = boot_loaders;
    if (const auto ours = check_unedited(plan); !ours) return fail(ours.error());
    auto done = begin(plan);
    for (auto step = plan.steps.begin(); done && step != plan.steps.end(); ++step) {
      // Edits in a row are one batch: each file would else wait for the disk on its own.
      if (std::holds_alternative<EditFile>(*step)) {
        ++batch_;
        continue;
      }
      done = carry_out_batch();
      if (done) done = carry_out(*step);
    }
    if (done) done = carry_out_batch();
    if (done) done = finish();
    if (done) return std::move(applied_);
    return undo(std::move(done.error()));
  }

 private:
  /// A run that was killed after its last step left the ledger open, and perhaps halves of files.
  Result<Applied> complete() {
    auto loaded = load_ledger(system_);
    if (!loaded || !*loaded) return Applied{};
    // What a generator made and couldn't be removed leaves the ledger closed.
    for (const auto& artefact : (*loaded)->artefacts)
      clear_generated(system_, artefact.path);
    if (!is_open(**loaded)) return Applied{};
    ledger_ = std::move(**loaded);
    clear_leftovers(system_, ledger_);
    if (const auto done = finish(); !done) return fail(done.error());
    return Applied{};
  }

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
                                  [&](const EditFile& edit) { return note(edit); },
                                  [&](const RemoveFile&) { return Result<>{}; },
                                  [&](const Regenerate& generate) { return note(generate); },
                                  [&](const RunTool& tool) { return note(tool); },
                                  [&](const Produce& made) {
                                    return note_place(system_, ledger_, directory_of(made.path));
                                  },
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

  Result<> note(const EditFile& edit) {
    auto read = edit_text(system_, edit);
    if (!read) return fail(read.error());
    const auto directory = directory_of(read->place);
    if (directory != noted_) {
      if (auto noted = note_directory(system_, ledger_, directory); !noted) return noted;
      noted_ = directory;
    }
    const auto& before = read->before;
    std::erase_if(ledger_.edits, [&](const auto& known) { return known.path == edit.path; });
    ledger_.edits.push_back({edit.path, edit.offset, edit.inserted, before.content.size(),
                             digest_of(before.content), *before.mtime});
    edits_.push_back(std::move(*read));
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

  Result<> note(const RunTool& tool) {
    if (tool.remembered_as.empty()) return {};
    std::erase_if(ledger_.tools,
                  [&](const auto& known) { return known.name == tool.remembered_as; });
    ledger_.tools.push_back({tool.remembered_as});
    return {};
  }

  Result<> carry_out(const Step& step) {
    return std::visit(Overloaded{
                          [&](const WriteFile& write) { return carry_out(write); },
                          [&](const EditFile&) { return Result<>{}; },
                          [&](const RemoveFile& remove) { return carry_out(remove); },
                          [&](const RunTool& tool) { return carry_out(tool); },
                          [&](const Regenerate& generate) { return carry_out(generate); },
                          [&](const Produce& made) { return carry_out(made); },
                      },
                      step);
  }

  /// A failure is kept: the settings stay.
  Result<> carry_out(const Regenerate& generate) {
    auto old = system_.read(generate.path);
    const auto info = system_.info(generate.path);
    if (old && info) {
      // The settings that it was made from may yet be taken back.
      undo_.emplace_back([this, before = FileWrite{generate.path, std::move(*old), 0644,
                                                   info->mtime}] { return put_back({before}); });
    }
    auto done = regenerate(system_, generate);
    if (done) applied_.changes.push_back({generate.path, "generate"});
    if (!done) applied_.not_generated = std::move(done.error());
    return {};
  }

  Result<> carry_out(const RunTool& tool) {
    if (auto done = run_tool(system_, tool); !done) return done;
    applied_.changes.push_back({tool.artefacts, "update"});
    for (auto& known : ledger_.tools) {
      if (known.name == tool.remembered_as) known.done = true;
    }
    return {};
  }

  Result<> carry_out(const WriteFile& write) {
    if (auto made = make_place(system_, ledger_, directory_of(write.path)); !made) return made;
    const auto old = system_.read(write.path);
    if (!old && old.error().code != Errc::not_found) return fail(old.error());
    // Before it: a write that fails may have put the file into place all the same.
    undo_.emplace_back([this, path = write.path, old] { return put_back(path, old); });
    if (auto written = system_.write(write.path, write.content, write.mode); !written) {
      return written;
    }
    applied_.changes.push_back({write.path, "write"});
    return {};
  }

  Result<> carry_out_batch() {
    std::vector<FileWrite> before;
    std::vector<FileWrite> after;
    for (; batch_ > 0; --batch_) {
      before.push_back(std::move(edits_.front().before));
      after.push_back(std::move(edits_.front().after));
      edits_.pop_front();
    }
    if (after.empty()) return {};
    // Before the first is in place: a failure in the middle takes all of them back.
    undo_.emplace_back([this, before = std::move(before), after]() mutable {
      return take_back(std::move(before), after);
    });
    const auto times = write_batch(system_, after);
    if (!times) return fail(times.error());
    for (std::size_t i = 0; i < after.size(); ++i) {
      applied_.changes.push_back({after[i].path, "edit"});
      times_[after[i].path] = times->at(i);
    }
    return {};
  }

  Result<> carry_out(const Produce& made) {
    if (auto place = make_place(system_, ledger_, directory_of(made.path)); !place) return place;
    const auto old = system_.read(made.path);
    if (!old && old.error().code != Errc::not_found) return fail(old.error());
    undo_.emplace_back([this, path = made.path, old] { return put_back(path, old); });
    if (auto done = produce(system_, made); !done) return done;
    applied_.changes.push_back({made.path, "write"});
    return {};
  }

  Result<> carry_out(const RemoveFile& remove) {
    const auto old = system_.read(remove.path);
    if (!old) return fail(old.error());
    undo_.emplace_back([this, path = remove.path, old] { return put_back(path, old); });
    if (auto removed = system_.remove_file(remove.path); !removed) return removed;
    applied_.changes.push_back({remove.path, "remove"});
    return {};
  }

  /// The content of before, or no file.
  Result<> put_back(const std::string& path, const Result<std::string>& old) {
    if (old) return put_back({{path, *old}});
    return system_.link_info(path) ? system_.remove_file(path) : Result<>{};
  }

  /// Rewrites those of the files that are as we made them. What somebody else has made of one in
  /// the meantime, or that it's gone, is theirs.
  Result<> take_back(std::vector<FileWrite> before, const std::vector<FileWrite>& after) {
    std::vector<FileWrite> ours;
    for (std::size_t i = 0; i < after.size(); ++i) {
      const auto now = system_.read(after[i].path);
      if (now && *now == after[i].content) ours.push_back(std::move(before[i]));
    }
    if (const auto written = write_batch(system_, ours); !written) return fail(written.error());
    return {};
  }

  /// Rewrites those of the files that aren't as they were.
  Result<> put_back(std::vector<FileWrite> files) {
    std::erase_if(files, [&](const FileWrite& file) {
      const auto now = system_.read(file.path);
      return now && *now == file.content;
    });
    if (const auto written = write_batch(system_, files); !written) return fail(written.error());
    return {};
  }

  Result<> finish() {
    close_directories(system_, ledger_);
    for (auto& edit : ledger_.edits) {
      if (const auto known = times_.find(edit.path); known != times_.end()) {
        edit.after = known->second;
      } else if (const auto info = system_.info(edit.path)) {
        edit.after = info->mtime;
      }
    }
    return save_ledger(system_, ledger_);
  }

  /// Takes back what was done. What can't be taken back is said with the first error.
  Result<Applied> undo(Error error) {
    std::vector<std::string> failures;
    for (auto step = undo_.rbegin(); step != undo_.rend(); ++step) {
      if (const auto undone = (*step)(); !undone) failures.push_back(undone.error().text());
    }
    if (!failures.empty()) {
      // Something of ours stays: so does the ledger, which the next run needs to go on.
    } else if (before_) {
      if (const auto saved = save_ledger(system_, *before_); !saved) {
        failures.push_back(saved.error().text());
      }
    } else {
      const auto removed = system_.remove_file(ledger_path);
      if (!removed && removed.error().code != Errc::not_found) {
        failures.push_back(removed.error().text());
      }
      remove_created(system_, ledger_);
      for (const auto& path : ledger_.created) {
        const auto left = system_.info(path);
        if (left || left.error().code != Errc::not_found) {
          failures.push_back(fmt::format("'{}' stays", system_.shown(path)));
        }
      }
      restore_directories(system_, ledger_.directories);
    }
    if (!failures.empty()) {
      error.message += fmt::format(" (and undoing it: {})", join(failures, "; "));
    }
    return fail(std::move(error));
  }

  const System& system_;
  bool force_;
  std::optional<Ledger> before_;
  Ledger ledger_;
  Applied applied_;
  std::unordered_map<std::string, timespec> times_;  ///< of the files edited by this run
  std::deque<Edited> edits_;                         ///< still to be written, in the plan's order
  std::size_t batch_ = 0;                            ///< so many of them are next
  std::string noted_;                                ///< the directory that was noted last
  std::vector<std::function<Result<>()>> undo_;
};

}  // namespace

std::vector<Change> changes_of(const Plan& plan) {
  std::vector<Change> changes;
  for (const auto& step : plan.steps) {
    changes.push_back(std::visit(Overloaded{
                                     [](const WriteFile& write) {
                                       return Change{write.path, "write"};
                                     },
                                     [](const EditFile& edit) {
                                       return Change{edit.path, "edit"};
                                     },
                                     [](const RemoveFile& remove) {
                                       return Change{remove.path, "remove"};
                                     },
                                     [](const RunTool& tool) {
                                       return Change{tool.artefacts, "update"};
                                     },
                                     [](const Regenerate& generate) {
                                       return Change{generate.path, "generate"};
                                     },
                                     [](const Produce& made) {
                                       return Change{made.path, "write"};
                                     },
                                 },
                                 step));
  }
  return changes;
}

void add_plan(Plan& all, Plan plan) {
  // Two boot loaders may have the same file edited: /etc/kernel/cmdline.
  std::erase_if(plan.steps, [&](const Step& step) {
    const auto* edit = std::get_if<EditFile>(&step);
    return edit != nullptr && std::ranges::any_of(all.steps, [&](const Step& other) {
             const auto* same = std::get_if<EditFile>(&other);
             return same != nullptr && same->path == edit->path && same->offset == edit->offset;
           });
  });
  std::ranges::move(plan.steps, std::back_inserter(all.steps));
  std::ranges::move(plan.deferred, std::back_inserter(all.deferred));
  std::ranges::move(plan.theirs, std::back_inserter(all.theirs));
}

Result<Applied> apply(const System& system, const Plan& plan,
                      const std::vector<std::string>& boot_loaders, bool force) {
  return Applier(system, force).run(plan, boot_loaders);
}

}  // namespace peerpath::boot
