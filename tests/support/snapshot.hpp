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

}  // namespace peerpath::test
