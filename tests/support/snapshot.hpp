// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <sys/stat.h>

namespace peerpath::test {

/// Everything below a directory: kind, mode, owner, modification time to the nanosecond, and
/// content or link target. Two equal snapshots mean that nothing changed.
inline std::map<std::string, std::string> snapshot(const std::string& root) {
  std::map<std::string, std::string> all;
  const auto describe = [&](const std::filesystem::path& path) {
    struct stat status {};
    ::lstat(path.c_str(), &status);
    std::ostringstream text;
    text << std::oct << status.st_mode << std::dec << ' ' << status.st_uid << ':' << status.st_gid
         << ' ' << status.st_mtim.tv_sec << '.' << status.st_mtim.tv_nsec;
    if (S_ISLNK(status.st_mode)) text << " -> " << std::filesystem::read_symlink(path).string();
    if (S_ISREG(status.st_mode)) {
      std::ifstream file(path, std::ios::binary);
      text << '\n' << std::string(std::istreambuf_iterator<char>(file), {});
    }
    all[path.lexically_relative(root).string()] = text.str();
  };
  describe(root);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    describe(entry.path());
  }
  return all;
}

/// The paths in which two snapshots differ, with both descriptions; empty where they're equal.
inline std::string differences(const std::map<std::string, std::string>& before,
                               const std::map<std::string, std::string>& after) {
  std::string text;
  const auto in = [](const auto& all, const std::string& path) {
    const auto found = all.find(path);
    return found == all.end() ? std::string("(not there)") : found->second;
  };
  for (const auto* all : {&before, &after}) {
    for (const auto& [path, description] : *all) {
      if (in(before, path) == in(after, path) || text.find(path + ":\n") == 0) continue;
      text += path + ":\n- " + in(before, path) + "\n+ " + in(after, path) + "\n";
    }
  }
  return text;
}

}  // namespace peerpath::test
