// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/recording.hpp"

#include "base/text.hpp"
#include "sys/fd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace peerpath {
namespace {

using Parts = std::map<std::uint64_t, std::string>;

/// Puts a part to those that are known, as one with each that it overlaps or touches; what was
/// read last counts.
void merge(Parts& parts, std::uint64_t offset, std::string content) {
  std::uint64_t begin = offset;
  std::uint64_t end = offset + content.size();
  for (auto part = parts.begin(); part != parts.end();) {
    const auto first = part->first;
    const auto last = first + part->second.size();
    if (last < begin || first > end) {
      ++part;
      continue;
    }
    if (first < begin) {
      content.insert(0, part->second, 0, begin - first);
      begin = first;
    }
    if (last > end) {
      content.append(part->second, end - first);
      end = last;
    }
    part = parts.erase(part);
  }
  parts[begin] = std::move(content);
}

Error error_at(const std::string& path) {
  return system_error(errno, fmt::format("'{}'", path));
}

Result<> write_file(const std::string& path, const Recording::Entry& entry) {
  const mode_t mode = (entry.mode & 0777U) | 0600U;
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file || ::fchmod(file.get(), mode) != 0) return fail(error_at(path));
  for (const auto& [offset, content] : entry.parts) {
    for (std::size_t done = 0; done < content.size();) {
      const auto written = ::pwrite(file.get(), content.data() + done, content.size() - done,
                                    static_cast<off_t>(offset + done));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail(error_at(path));
      done += static_cast<std::size_t>(written);
    }
  }
  if (!entry.parts.empty() && ::ftruncate(file.get(), static_cast<off_t>(entry.size)) != 0) {
    return fail(error_at(path));
  }
  return {};
}

Result<> make_directories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail(system_error(error.value(), fmt::format("'{}'", path)));
  return {};
}

Result<> make_link(const std::string& path, const std::string& target) {
  if (::symlink(target.c_str(), path.c_str()) != 0) return fail(error_at(path));
  return {};
}

Result<> write_entry(const std::string& path, const Recording::Entry& entry) {
  if (entry.kind == FileKind::regular) return write_file(path, entry);
  if (entry.kind == FileKind::symlink) return make_link(path, entry.target);
  return make_directories(path);
}

/// A link to itself fails each look at it or below it, and never as if it weren't there.
Result<> write_unread(const std::string& path, bool directory) {
  return directory ? make_link(path, base_name(path)) : make_directories(path);
}

bool is_below_unread(const Recording& recording, const std::string& path) {
  for (auto above = directory_of(path); above != "/"; above = directory_of(above)) {
    if (recording.unread().contains(above)) return true;
  }
  return false;
}

}  // namespace

void Recording::add(const std::string& path, const FileInfo& info) {
  auto& entry = entries_[path];
  // Content that's known stays: a later look at the file doesn't change it.
  if (entry.kind == info.kind && !entry.parts.empty()) return;
  entry.kind = info.kind;
  entry.mode = info.mode;
}

void Recording::add_link(const std::string& path, std::string target) {
  auto& entry = entries_[path];
  entry.kind = FileKind::symlink;
  entry.target = std::move(target);
}

void Recording::add_part(const std::string& path, std::uint64_t offset, std::size_t length,
                         std::string content, std::uint64_t size) {
  auto& entry = entries_[path];
  entry.kind = FileKind::regular;
  const auto end = offset + content.size();
  // Files of /proc and /sys say any size: what counts is where reading them ended.
  const bool ended = content.size() < length && (!content.empty() || offset <= size);
  if (ended) {
    entry.size = entry.ended && content.empty() ? std::min(entry.size, end) : end;
    entry.ended = true;
  } else if (!entry.ended) {
    entry.size = std::max({entry.size, size, end});
  }
  merge(entry.parts, offset, std::move(content));
}

void Recording::add_file(const std::string& path, std::string content) {
  unread_.erase(path);
  auto& entry = entries_[path];
  entry = {};
  entry.kind = FileKind::regular;
  entry.mode = 0644;
  entry.size = content.size();
  entry.parts[0] = std::move(content);
}

void Recording::add_unread(const std::string& path, std::string why) {
  unread_.insert_or_assign(path, std::move(why));
}

Result<> write_tree(const Recording& recording, const std::string& directory) {
  // The map's order has a directory before what's in it.
  for (const auto& [path, entry] : recording.entries()) {
    if (path == "/" || is_below_unread(recording, path)) continue;
    const auto place = directory + path;
    if (auto made = make_directories(directory_of(place)); !made) return made;
    auto written = recording.unread().contains(path)
                       ? write_unread(place, entry.kind == FileKind::directory)
                       : write_entry(place, entry);
    if (!written) return written;
  }
  const Fd top(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!top || ::syncfs(top.get()) != 0) return fail(error_at(directory));
  return {};
}

}  // namespace peerpath
