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

/// The state of a walk: the directories down to where it is, and the names still to be taken.
class Walk {
 public:
  explicit Walk(LastLink last_link) : last_link_(last_link) {}

  int start(int root, std::string_view path) {
    directories_.emplace_back(::fcntl(root, F_DUPFD_CLOEXEC, 0));
    if (!directories_.back()) return errno;
    prepend(pending_, path);
    return 0;
  }

  int run() {
    while (exists_ && !pending_.empty()) {
      const std::string name = std::move(pending_.front());
      pending_.pop_front();
      current_ = name;
      if (const int error = name == ".." ? go_up() : name == "." ? 0 : go_down(name); error != 0) {
        return error;
      }
    }
    return 0;
  }

  /// For a walk that failed.
  void give_up(Place& place) {
    place.path = path_of(current_);
    place.links = std::move(seen_);
  }

  void finish(Place& place) {
    place.path = "/" + join(names_, "/");
    place.exists = exists_;
    place.links = std::move(seen_);
    place.name = names_.empty() ? "" : names_.back();
    // One up from the last directory, unless that last component isn't there.
    place.parent = std::move(directories_[names_.empty() ? 0 : names_.size() - 1]);
  }

 private:
  int go_up() {
    // Above the root is the root.
    if (!names_.empty()) {
      names_.pop_back();
      directories_.pop_back();
    }
    return 0;
  }

  int go_down(const std::string& name) {
    Fd next(::openat(directories_.back().get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next) {
      if (errno != ENOENT || !pending_.empty()) return errno;
      names_.push_back(name);
      exists_ = false;
      return 0;
    }
    struct stat status {};
    if (::fstat(next.get(), &status) != 0) return errno;
    if (S_ISLNK(status.st_mode) && (!pending_.empty() || last_link_ == LastLink::follow)) {
      return follow(name);
    }
    if (!pending_.empty() && !S_ISDIR(status.st_mode)) return ENOTDIR;
    names_.push_back(name);
    directories_.push_back(std::move(next));
    return 0;
  }

  int follow(const std::string& name) {
    if (++links_ > most_links) return ELOOP;
    std::string target;
    const int error = read_link_at(directories_.back().get(), name.c_str(), target);
    if (error != 0) return error;
    seen_.push_back({path_of(name), target});
    if (target.starts_with('/')) {
      directories_.resize(1);
      names_.clear();
    }
    prepend(pending_, target);
    return 0;
  }

  /// Of a name in the directory where the walk is.
  [[nodiscard]] std::string path_of(const std::string& name) const {
    return (names_.empty() ? "" : "/" + join(names_, "/")) + "/" + name;
  }

  LastLink last_link_;
  std::vector<Fd> directories_;
  std::vector<std::string> names_;
  std::deque<std::string> pending_;
  std::string current_;
  std::vector<Link> seen_;
  int links_ = 0;
  bool exists_ = true;
};

}  // namespace

int walk(int root, std::string_view path, LastLink last_link, Place& place) {
  if (path.find('\0') != std::string_view::npos) return EINVAL;
  if (path.size() >= PATH_MAX) return ENAMETOOLONG;
  Walk walk(last_link);
  if (const int error = walk.start(root, path); error != 0) return error;
  if (const int error = walk.run(); error != 0) {
    walk.give_up(place);
    return error;
  }
  walk.finish(place);
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
