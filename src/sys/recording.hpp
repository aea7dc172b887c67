// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "sys/system.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath {

/// What was looked at through a System (`System::record`), so that it can be written out as a tree
/// in which the same looks find the same. What was looked for and is missing leaves no trace: it's
/// missing there, too.
class Recording {
 public:
  struct Entry {
    FileKind kind = FileKind::other;
    mode_t mode = 0;                             ///< permission bits
    std::uint64_t size = 0;                      ///< of a file that was read
    bool ended = false;                          ///< its end was seen: it's no larger
    std::map<std::uint64_t, std::string> parts;  ///< of a file: what was read, by its offset
    std::string target;                          ///< of a symbolic link
  };

  /// By the path as seen from inside the root, without symbolic links on the way to it.
  [[nodiscard]] const std::map<std::string, Entry>& entries() const { return entries_; }
  /// What's there but couldn't be read or looked into, with the reason.
  [[nodiscard]] const std::map<std::string, std::string>& unread() const { return unread_; }
  /// Commands that were run: their answers aren't kept.
  [[nodiscard]] const std::set<std::vector<std::string>>& commands() const { return commands_; }

  /// Something that is there, whatever else is known of it.
  void add(const std::string& path, const FileInfo& info);
  void add_link(const std::string& path, std::string target);
  /// The outcome of reading up to `length` bytes of a regular file that says it has `size`.
  void add_part(const std::string& path, std::uint64_t offset, std::size_t length,
                std::string content, std::uint64_t size);
  /// A whole file, instead of what's known of it: for facts that don't come from a file.
  void add_file(const std::string& path, std::string content);
  void add_unread(const std::string& path, std::string why);
  void add_command(const std::vector<std::string>& argv) { commands_.insert(argv); }

  /// The same with other paths, link targets and contents. Two paths that become one are one.
  template <class Text, class Content>
  [[nodiscard]] Recording changed(Text text, Content content) const;

 private:
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::string> unread_;
  std::set<std::vector<std::string>> commands_;
};

template <class Text, class Content>
Recording Recording::changed(Text text, Content content) const {
  Recording result;
  for (const auto& [path, entry] : entries_) {
    auto other = entry;
    other.target = text(entry.target);
    for (auto& [offset, part] : other.parts)
      part = content(path, offset, part);
    result.entries_.insert_or_assign(text(path), std::move(other));
  }
  for (const auto& [path, why] : unread_)
    result.unread_.insert_or_assign(text(path), text(why));
  for (const auto& argv : commands_) {
    std::vector<std::string> other;
    for (const auto& word : argv)
      other.push_back(text(word));
    result.commands_.insert(std::move(other));
  }
  return result;
}

/// Writes the recording as a tree into a directory, which is empty and nobody else's to change.
/// What couldn't be read can't be read there either, by root neither: a file is a directory, and a
/// directory is a symbolic link to itself. So is what's neither file, directory nor link: a
/// directory. Returns after all of it is on the disk.
[[nodiscard]] Result<> write_tree(const Recording& recording, const std::string& directory);

}  // namespace peerpath
