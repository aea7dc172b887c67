// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/places.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace peerpath::boot {

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

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

Result<> note_place(const System& system, Ledger& ledger, const std::string& path) {
  if (system.exists(path)) return note_directory(system, ledger, path);
  if (auto noted = note_place(system, ledger, directory_of(path)); !noted) return noted;
  if (std::find(ledger.created.begin(), ledger.created.end(), path) == ledger.created.end()) {
    ledger.created.push_back(path);
  }
  return {};
}

Result<> make_place(const System& system, const Ledger& ledger, const std::string& path) {
  for (const auto& directory : ledger.created) {
    const bool leads_there = path == directory || path.starts_with(directory + "/");
    if (!leads_there || system.exists(directory)) continue;
    if (auto made = system.make_directory(directory); !made) return made;
  }
  return {};
}

void close_directories(const System& system, Ledger& ledger) {
  for (auto& directory : ledger.directories) {
    if (const auto info = system.info(directory.path)) directory.after = info->mtime;
  }
}

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

std::vector<Ledger::Directory> untouched_directories(const System& system, const Ledger& ledger) {
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

}  // namespace peerpath::boot
