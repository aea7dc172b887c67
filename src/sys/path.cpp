// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/path.hpp"

#include "base/text.hpp"

#include <cerrno>
#include <climits>
#include <deque>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <vector>

namespace peerpath {
namespace {

constexpr int most_links = 40;

int read_link_at(int dir, const char* name, std::string& target) {
  std::string buffer(PATH_MAX, '\0');
  const auto length = ::readlinkat(dir, name, buffer.data(), buffer.size());
  if (length < 0) return errno;
  if (static_cast<std::size_t>(length) == buffer.size()) return ENAMETOOLONG;
  buffer.resize(static_cast<std::size_t>(length));
  target = std::move(buffer);
  return 0;
}

void prepend(std::deque<std::string>& pending, std::string_view path) {
  auto parts = split(path, '/');
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (!part->empty()) pending.emplace_front(*part);
  }
}

}  // namespace

int walk(int root, std::string_view path, LastLink last_link, Place& place) {
  if (path.find('\0') != std::string_view::npos) return EINVAL;
  if (path.size() >= PATH_MAX) return ENAMETOOLONG;

  std::vector<Fd> directories;
  directories.emplace_back(::fcntl(root, F_DUPFD_CLOEXEC, 0));
  if (!directories.back()) return errno;
  std::vector<std::string> names;
  std::deque<std::string> pending;
  prepend(pending, path);
  int links = 0;
  bool exists = true;

  while (!pending.empty()) {
    const std::string name = std::move(pending.front());
    pending.pop_front();
    if (name == ".") continue;
    if (name == "..") {
      if (!names.empty()) {
        names.pop_back();
        directories.pop_back();
      }
      continue;
    }
    const int here = directories.back().get();
    Fd next(::openat(here, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next) {
      if (errno != ENOENT || !pending.empty()) return errno;
      names.push_back(name);
      exists = false;
      break;
    }
    struct stat status {};
    if (::fstat(next.get(), &status) != 0) return errno;
    if (S_ISLNK(status.st_mode) && (!pending.empty() || last_link == LastLink::follow)) {
      if (++links > most_links) return ELOOP;
      std::string target;
      if (const int error = read_link_at(here, name.c_str(), target); error != 0) return error;
      if (target.starts_with('/')) {
        directories.resize(1);
        names.clear();
      }
      prepend(pending, target);
      continue;
    }
    if (!pending.empty() && !S_ISDIR(status.st_mode)) return ENOTDIR;
    names.push_back(name);
    directories.push_back(std::move(next));
  }

  place.path = "/" + join(names, "/");
  place.exists = exists;
  place.name = names.empty() ? "" : names.back();
  // The parent: one up from the last directory, unless that last component isn't there.
  const std::size_t parent = names.empty() ? 0 : names.size() - 1;
  place.parent = std::move(directories[parent]);
  return 0;
}

int open_by_kernel(int root, std::string_view path, int flags) {
  std::string relative(path);
  relative.erase(0, relative.find_first_not_of('/'));
  if (relative.empty()) relative = ".";
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_IN_ROOT;
  const auto fd = ::syscall(SYS_openat2, root, relative.c_str(), &how, sizeof how);
  return fd < 0 ? -errno : static_cast<int>(fd);
}

int open_by_walk(int root, std::string_view path, int flags) {
  Place place;
  const auto last_link = (flags & O_NOFOLLOW) != 0 ? LastLink::keep : LastLink::follow;
  if (const int error = walk(root, path, last_link, place); error != 0) return -error;
  if (!place.exists) return -ENOENT;
  const char* name = place.name.empty() ? "." : place.name.c_str();
  const int fd = ::openat(place.parent.get(), name, flags | O_NOFOLLOW);
  return fd < 0 ? -errno : fd;
}

int open_under(int root, std::string_view path, int flags) {
  if (path.find('\0') != std::string_view::npos) return -EINVAL;
  const int fd = open_by_kernel(root, path, flags);
  // EAGAIN: a rename raced with the kernel's check of a `..`; the walk has no such check.
  if (fd == -ENOSYS || fd == -EPERM || fd == -EAGAIN || fd == -E2BIG) {
    return open_by_walk(root, path, flags);
  }
  return fd;
}

}  // namespace peerpath
