// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <sys/xattr.h>

namespace peerpath::test {

/// The extended attributes that users may set, name by name; those of a file system without are
/// none.
inline std::string attributes(const std::string& path) {
  std::string names(4096, '\0');
  const auto size = ::llistxattr(path.c_str(), names.data(), names.size());
  std::string text;
  for (long at = 0; at < size;) {
    const std::string name = names.data() + at;
    at += static_cast<long>(name.size()) + 1;
    if (!name.starts_with("user.")) continue;
    std::string value(4096, '\0');
    const auto length = ::lgetxattr(path.c_str(), name.c_str(), value.data(), value.size());
    text += " " + name + "=" + value.substr(0, length < 0 ? 0 : static_cast<std::size_t>(length));
  }
  return text;
}

/// Everything below a directory: kind, mode, owner, modification time to the nanosecond,
/// extended attributes, and content or link target. Two equal snapshots mean that nothing changed.
inline std::map<std::string, std::string> snapshot(const std::string& root) {
  std::map<std::string, std::string> all;
  const auto describe = [&](const std::filesystem::path& path) {
    struct stat status {};
    ::lstat(path.c_str(), &status);
    std::ostringstream text;
    text << std::oct << status.st_mode << std::dec << ' ' << status.st_uid << ':' << status.st_gid
         << ' ' << status.st_mtim.tv_sec << '.' << status.st_mtim.tv_nsec << attributes(path);
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
