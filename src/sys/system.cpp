// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/system.hpp"

#include "base/text.hpp"
#include "sys/path.hpp"
#include "sys/process.hpp"
#include "sys/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <dirent.h>
#include <fcntl.h>
#include <limits>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <thread>
#include <utility>

namespace peerpath {
namespace {

FileInfo describe(const struct stat& status) {
  FileInfo info;
  if (S_ISREG(status.st_mode)) info.kind = FileKind::regular;
  if (S_ISDIR(status.st_mode)) info.kind = FileKind::directory;
  if (S_ISLNK(status.st_mode)) info.kind = FileKind::symlink;
  info.mode = status.st_mode & 07777U;
  info.uid = status.st_uid;
  info.gid = status.st_gid;
  info.size = static_cast<std::uint64_t>(status.st_size);
  info.mtime = status.st_mtim;
  return info;
}

/// Opens a file for reading; none and no error where it isn't a regular file. Returns 0 or an
/// errno.
int open_regular(int root, std::string_view path, Fd& file, struct stat& status, int flags = 0) {
  // O_NONBLOCK: a FIFO put where a file is expected must not hang us.
  Fd opened(open_under(root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags));
  // Fd holds minus errno here, and has nothing to close.
  if (!opened) return -opened.get();
  if (::fstat(opened.get(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  if (S_ISREG(status.st_mode)) file = std::move(opened);
  return 0;
}

/// Reads to the end of a file that says it has this size. Returns 0 or an errno; EFBIG for more
/// than the limit.
int read_all(int file, std::size_t size, std::size_t limit, std::string& content) {
  // Files of /proc and /sys say size 0 or 4096: those are read until there's no more.
  std::array<char, 16384> buffer{};
  for (;;) {
    const auto length = ::read(file, buffer.data(), buffer.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return errno;
    if (length == 0) return 0;
    content.append(buffer.data(), static_cast<std::size_t>(length));
    if (content.size() > limit) return EFBIG;
    if (content.size() == size) return 0;
  }
}

/// Copies every extended attribute, SELinux labels among them. Returns 0 or an errno.
int copy_attributes(int from, int to) {
  const auto size = ::flistxattr(from, nullptr, 0);
  if (size < 0) return errno == ENOTSUP ? 0 : errno;
  std::string names(static_cast<std::size_t>(size), '\0');
  if (size == 0) return 0;
  if (::flistxattr(from, names.data(), names.size()) != size) return errno;
  for (const char* name = names.data(); name < names.data() + names.size();
       name += std::char_traits<char>::length(name) + 1) {
    const auto length = ::fgetxattr(from, name, nullptr, 0);
    if (length < 0) return errno;
    std::string value(static_cast<std::size_t>(length), '\0');
    if (::fgetxattr(from, name, value.data(), value.size()) != length) return errno;
    if (::fsetxattr(to, name, value.data(), value.size(), 0) != 0) return errno;
  }
  return 0;
}

int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const auto written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// The temporary's name: hidden and without the original's suffix, since `*.cfg` and the like
/// are sourced by boot loaders' scripts. It's fixed, so that the next run clears what a killed
/// one left.
std::string temporary_name(const std::string& name) {
  return "." + name + ".peerpath-new";
}

/// O_NONBLOCK: a FIFO must not hang us.
Fd open_original(int parent, const std::string& name) {
  return Fd(::openat(parent, name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
}

/// A file on its way: complete beside the one that it will replace.
struct Pending {
  std::string path;
  Place place;
  /// The place's directory: several files in one share the first one's descriptor.
  int parent = -1;
  Fd original = {};  ///< the file to be replaced, where it's open already
  Fd file = {};
};

bool is_unchanged(const FileInfo& before, const FileInfo& now) {
  return before.size == now.size && before.mtime.tv_sec == now.mtime.tv_sec &&
         before.mtime.tv_nsec == now.mtime.tv_nsec;
}

/// Writes a temporary file with the content, as much like the original as it can be. It isn't
/// synced yet.
int write_temporary(Pending& pending, const FileWrite& write) {
  const auto& place = pending.place;
  const int parent = pending.parent;
  const auto temporary = temporary_name(place.name);
  const auto create = [&] {
    return Fd(::openat(parent, temporary.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  };
  pending.file = create();
  if (!pending.file && errno == EEXIST) {
    // A run that was killed left it.
    if (::unlinkat(parent, temporary.c_str(), 0) != 0) return errno;
    pending.file = create();
  }
  const auto& file = pending.file;
  if (!file) return errno;
  if (const int error = write_all(file.get(), write.content); error != 0) return error;
  auto mode = write.mode;
  if (write.instead_of && !place.exists) return ESTALE;
  if (place.exists) {
    auto original = std::exchange(pending.original, Fd());
    if (!original) original = open_original(parent, place.name);
    struct stat status {};
    if (!original || ::fstat(original.get(), &status) != 0) return errno;
    if (write.instead_of && !is_unchanged(*write.instead_of, describe(status))) return ESTALE;
    if (::fchown(file.get(), status.st_uid, status.st_gid) != 0) return errno;
    if (const int error = copy_attributes(original.get(), file.get()); error != 0) return error;
    mode = status.st_mode & 07777U;
  }
  if (::fchmod(file.get(), mode) != 0) return errno;
  if (write.mtime) {
    const timespec times[2] = {{0, UTIME_OMIT}, *write.mtime};
    if (::futimens(file.get(), times) != 0) return errno;
  }
  return 0;
}

Error write_error(int error, const std::string& shown) {
  if (error != ESTALE) return system_error(error, fmt::format("'{}'", shown));
  return {Errc::conflict,
          fmt::format("'{}': changed by somebody else meanwhile, left alone", shown)};
}

/// Finds it in the directory where the file before was found, if that path had no link in it.
/// Two hundred files in one directory are two hundred walks else.
bool find_beside(const Pending& last, Pending& pending) {
  const auto& beside = last.place;
  if (beside.path != last.path || directory_of(last.path) != directory_of(pending.path)) {
    return false;
  }
  const auto name = base_name(pending.path);
  if (name.empty() || name == "." || name == "..") return false;
  // A link fails here.
  pending.original = open_original(last.parent, name);
  if (!pending.original) return false;
  pending.parent = last.parent;
  pending.place.name = name;
  pending.place.path = pending.path;
  pending.place.exists = true;
  return true;
}

int find_place(int root, const Pending* last, Pending& pending) {
  if (last != nullptr && find_beside(*last, pending)) return 0;
  const int error = walk(root, pending.path, LastLink::follow, pending.place);
  pending.parent = pending.place.parent.get();
  return error == 0 && pending.place.name.empty() ? EISDIR : error;
}

int prepare(int root, const Pending* last, Pending& pending, const FileWrite& write) {
  const int error = find_place(root, last, pending);
  return error == 0 ? write_temporary(pending, write) : error;
}

int put_into_place(const Pending& pending) {
  return ::renameat(pending.parent, temporary_name(pending.place.name).c_str(), pending.parent,
                    pending.place.name.c_str()) == 0
             ? 0
             : errno;
}

bool in_same_directory(const Pending* one, const Pending& other) {
  return one != nullptr && directory_of(one->place.path) == directory_of(other.place.path);
}

/// `directory` is open with O_PATH, which can't be synced itself. Returns 0 or an errno.
int sync_directory(int directory) {
  const Fd readable(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return readable && ::fsync(readable.get()) == 0 ? 0 : errno;
}

}  // namespace

Result<std::unique_ptr<System>> System::open(const std::string& root) {
  Fd fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return fail(system_error(errno, fmt::format("'{}'", root)));
  struct stat given {};
  struct stat own {};
  if (::fstat(fd.get(), &given) != 0 || ::stat("/", &own) != 0) {
    return fail(system_error(errno, fmt::format("'{}'", root)));
  }
  const bool own_root = given.st_dev == own.st_dev && given.st_ino == own.st_ino;
  std::string name = root;
  while (name.size() > 1 && name.ends_with('/'))
    name.pop_back();
  return std::unique_ptr<System>(new System(name, std::move(fd), own_root));
}

System::System(std::string root, Fd root_fd, bool own_root)
    : root_(std::move(root)), root_fd_(std::move(root_fd)), own_root_(own_root) {}

std::string System::shown(std::string_view path) const {
  return root_ == "/" ? std::string(path) : root_ + std::string(path);
}

Result<std::string> System::read(std::string_view path, std::size_t limit) const {
  auto file = read_file(path, limit, 0);
  if (!file) return fail(file.error());
  return std::move(file->content);
}

Result<FileText> System::read_file(std::string_view path) const {
  auto file = read_file(path, read_limit, O_NOFOLLOW);
  if (file || !link_info(path)) return file;
  file = read_file(path, read_limit, 0);
  if (file) file->through_link = true;
  return file;
}

/// Notes a path as it is now; the path without links where it exists. With an error, which isn't
/// that of the wrong kind, that it couldn't be read.
std::optional<std::string> System::note(std::string_view path, LastLink last_link,
                                        FileKind expected, const Error* error) const {
  if (recording_ == nullptr) return std::nullopt;
  Place place;
  const int walked = walk(root_fd_.get(), path, last_link, place);
  for (auto& link : place.links)
    recording_->add_link(link.path, std::move(link.target));
  if (walked == EACCES) {
    // Whatever is in that directory.
    const auto directory = directory_of(place.path);
    recording_->add(directory, {.kind = FileKind::directory, .mode = 0700});
    recording_->add_unread(directory, "permission denied");
  }
  struct stat status {};
  if (walked != 0 || !place.exists) return std::nullopt;
  if (::fstatat(place.parent.get(), place.name.empty() ? "." : place.name.c_str(), &status,
                AT_SYMLINK_NOFOLLOW) != 0) {
    return std::nullopt;
  }
  const auto found = describe(status);
  if (found.kind == FileKind::symlink) {
    std::string target(PATH_MAX, '\0');
    const auto length =
        ::readlinkat(place.parent.get(), place.name.c_str(), target.data(), target.size());
    target.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    recording_->add_link(place.path, std::move(target));
    return place.path;
  }
  recording_->add(place.path, found);
  if (error != nullptr && error->code != Errc::not_found && found.kind == expected) {
    // Without the path in front, which names the root as it's seen from outside.
    recording_->add_unread(place.path, error->message.substr(error->message.rfind(": ") + 2));
  }
  return place.path;
}

Result<std::vector<std::string>> System::noted(std::string_view path,
                                               Result<std::vector<std::string>> names) const {
  const auto* error = names ? nullptr : &names.error();
  const auto place = note(path, LastLink::follow, FileKind::directory, error);
  if (!place || !names) return names;
  for (const auto& name : *names)
    note(fmt::format("{}/{}", *place == "/" ? "" : *place, name), LastLink::keep);
  return names;
}

Result<FileText> System::read_file(std::string_view path, std::size_t limit, int flags) const {
  auto text = load(path, limit, flags);
  const auto last_link = (flags & O_NOFOLLOW) != 0 ? LastLink::keep : LastLink::follow;
  const auto place = note(path, last_link, FileKind::regular, text ? nullptr : &text.error());
  if (place && text) {
    const auto size = text->content.size();
    recording_->add_part(*place, 0, size + 1, text->content, size);
  }
  return text;
}

Result<FileText> System::load(std::string_view path, std::size_t limit, int flags) const {
  Fd file;
  struct stat status {};
  FileText text;
  int error = open_regular(root_fd_.get(), path, file, status, flags);
  if (error == 0 && !file) {
    return fail(Errc::malformed, fmt::format("'{}': not a regular file", shown(path)));
  }
  if (error == 0) {
    error = read_all(file.get(), static_cast<std::size_t>(status.st_size), limit, text.content);
    if (error == EFBIG) {
      return fail(Errc::too_large, fmt::format("'{}': larger than {} bytes", shown(path), limit));
    }
  }
  if (error != 0) return fail(system_error(error, fmt::format("'{}'", shown(path))));
  text.info = describe(status);
  return text;
}

Result<std::string> System::read_range(std::string_view path, std::uint64_t offset,
                                       std::size_t length) const {
  auto content = load_range(path, offset, length);
  const auto place =
      note(path, LastLink::follow, FileKind::regular, content ? nullptr : &content.error());
  if (place && content) {
    const auto status = info(*place);
    recording_->add_part(*place, offset, length, *content, status ? status->size : 0);
  }
  return content;
}

Result<std::string> System::load_range(std::string_view path, std::uint64_t offset,
                                       std::size_t length) const {
  const auto failed = [&](int error) {
    return fail(system_error(error, fmt::format("'{}'", shown(path))));
  };
  if (length > read_limit || offset > std::numeric_limits<off_t>::max() - length) {
    return failed(EFBIG);
  }
  Fd file;
  struct stat status {};
  if (const int error = open_regular(root_fd_.get(), path, file, status); error != 0) {
    return failed(error);
  }
  if (!file) return fail(Errc::malformed, fmt::format("'{}': not a regular file", shown(path)));
  std::string content(length, '\0');
  std::size_t done = 0;
  while (done < length) {
    const auto got = ::pread(file.get(), content.data() + done, length - done,
                             static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  content.resize(done);
  return content;
}

Result<> System::stream(std::string_view path, const Sink& sink) const {
  const auto failed = [&](int error) {
    return fail(system_error(error, fmt::format("'{}'", shown(path))));
  };
  // O_NONBLOCK: neither a device without news nor a FIFO may hang us.
  const Fd file(open_under(root_fd_.get(), path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return failed(-file.get());
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return failed(errno);
  if (S_ISDIR(status.st_mode)) return failed(EISDIR);
  // A device's node in an image is this machine's device, not the image's.
  const bool device = S_ISCHR(status.st_mode) && own_root_;
  if (!S_ISREG(status.st_mode) && !device) {
    return fail(Errc::malformed, fmt::format("'{}': not a regular file", shown(path)));
  }
  std::string buffer(std::size_t{64} << 10U, '\0');
  std::uint64_t total = 0;
  while (total <= stream_limit) {
    const auto length = ::read(file.get(), buffer.data(), buffer.size());
    if (length == 0 || (length < 0 && errno == EAGAIN)) return {};
    if (length < 0 && (errno == EINTR || (device && errno == EPIPE))) continue;
    if (length < 0) return failed(errno);
    total += static_cast<std::uint64_t>(length);
    sink({buffer.data(), static_cast<std::size_t>(length)});
  }
  return failed(EFBIG);
}

Result<std::vector<std::string>> System::list(std::string_view path) const {
  return noted(path, names_in(path, false));
}

Result<std::vector<std::string>> System::list_files(std::string_view path) const {
  return noted(path, names_in(path, true));
}

Result<std::vector<std::string>> System::names_in(std::string_view path, bool files_only) const {
  Fd directory(open_under(root_fd_.get(), path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return fail(system_error(-directory.get(), fmt::format("'{}'", shown(path))));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(::dup(directory.get())), ::closedir);
  if (!stream) return fail(system_error(errno, fmt::format("'{}'", shown(path))));
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    if (files_only && entry->d_type != DT_REG) continue;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return fail(system_error(errno, fmt::format("'{}'", shown(path))));
  std::sort(names.begin(), names.end());
  return names;
}

Result<FileInfo> System::info(std::string_view path) const {
  note(path, LastLink::follow);
  Fd file(open_under(root_fd_.get(), path, O_PATH | O_CLOEXEC));
  if (!file) return fail(system_error(-file.get(), fmt::format("'{}'", shown(path))));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    return fail(system_error(errno, fmt::format("'{}'", shown(path))));
  }
  return describe(status);
}

Result<FileInfo> System::link_info(std::string_view path) const {
  note(path, LastLink::keep);
  Fd file(open_under(root_fd_.get(), path, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return fail(system_error(-file.get(), fmt::format("'{}'", shown(path))));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    return fail(system_error(errno, fmt::format("'{}'", shown(path))));
  }
  return describe(status);
}

bool System::exists(std::string_view path) const {
  note(path, LastLink::follow);
  return static_cast<bool>(Fd(open_under(root_fd_.get(), path, O_PATH | O_CLOEXEC)));
}

Result<std::string> System::read_link(std::string_view path) const {
  note(path, LastLink::keep);
  Fd file(open_under(root_fd_.get(), path, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return fail(system_error(-file.get(), fmt::format("'{}'", shown(path))));
  std::string target(PATH_MAX, '\0');
  const auto length = ::readlinkat(file.get(), "", target.data(), target.size());
  if (length < 0) return fail(system_error(errno, fmt::format("'{}'", shown(path))));
  target.resize(static_cast<std::size_t>(length));
  return target;
}

Result<std::string> System::resolve(std::string_view path) const {
  note(path, LastLink::follow);
  Place place;
  int error = walk(root_fd_.get(), path, LastLink::follow, place);
  if (error == 0 && !place.exists) error = ENOENT;
  if (error != 0) return fail(system_error(error, fmt::format("'{}'", shown(path))));
  return place.path;
}

Result<bool> System::is_mount_point(std::string_view path) const {
  note(path, LastLink::follow);
  const auto failed = [&](int error) {
    return fail(system_error(error, fmt::format("'{}'", shown(path))));
  };
  // O_PATH: an automount that nobody has used yet isn't set off by the question.
  Fd directory(open_under(root_fd_.get(), path, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return failed(-directory.get());
  struct statx extended {};
  if (::statx(directory.get(), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &extended) == 0 &&
      (extended.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0) {
    return (extended.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  }
  struct stat own {};
  struct stat parent {};
  if (::fstat(directory.get(), &own) != 0 || ::fstatat(directory.get(), "..", &parent, 0) != 0) {
    return failed(errno);
  }
  return own.st_dev != parent.st_dev;
}

Result<> System::write(std::string_view path, std::string_view content, mode_t mode) const {
  const auto times = write({FileWrite{std::string(path), std::string(content), mode}});
  if (!times) return fail(times.error());
  return {};
}

Result<std::vector<timespec>> System::write(const std::vector<FileWrite>& files) const {
  std::vector<Pending> pending;
  const auto failed = [&](int error, std::string_view path) {
    for (const auto& one : pending) {
      if (one.file) ::unlinkat(one.parent, temporary_name(one.place.name).c_str(), 0);
    }
    return fail(write_error(error, shown(path)));
  };
  pending.reserve(files.size());
  for (const auto& file : files) {
    const auto* last = pending.empty() ? nullptr : &pending.back();
    auto& one = pending.emplace_back();
    one.path = file.path;
    if (const int error = prepare(root_fd_.get(), last, one, file); error != 0) {
      return failed(error, file.path);
    }
  }
  // One after another from here on: the first sync takes the others' data along.
  for (const auto& one : pending) {
    if (::fsync(one.file.get()) != 0) return failed(errno, one.path);
  }
  for (const auto& one : pending) {
    if (const int error = put_into_place(one); error != 0) return failed(error, one.path);
  }
  std::vector<timespec> times;
  const Pending* synced = nullptr;
  for (const auto& one : pending) {
    struct stat status {};
    int error = ::fstat(one.file.get(), &status) == 0 ? 0 : errno;
    if (error == 0 && !in_same_directory(synced, one)) error = sync_directory(one.parent);
    if (error != 0) return failed(error, one.path);
    synced = &one;
    times.push_back(status.st_mtim);
  }
  return times;
}

Result<> System::remove_leftover(std::string_view path) const {
  Place place;
  int error = walk(root_fd_.get(), path, LastLink::follow, place);
  if (error == 0 && ::unlinkat(place.parent.get(), temporary_name(place.name).c_str(), 0) != 0) {
    error = errno;
  }
  if (error != 0 && error != ENOENT) {
    return fail(system_error(error, fmt::format("'{}'", shown(path))));
  }
  return {};
}

Result<> System::make_directory(std::string_view path, mode_t mode) const {
  Place place;
  int error = walk(root_fd_.get(), path, LastLink::follow, place);
  if (error == 0 && ::mkdirat(place.parent.get(), place.name.c_str(), mode) != 0) error = errno;
  if (error != 0) return fail(system_error(error, fmt::format("'{}'", shown(path))));
  return {};
}

namespace {

int remove_at(int root, std::string_view path, int flags) {
  Place place;
  if (const int error = walk(root, path, LastLink::keep, place); error != 0) return error;
  if (::unlinkat(place.parent.get(), place.name.c_str(), flags) != 0) return errno;
  return sync_directory(place.parent.get());
}

}  // namespace

Result<> System::remove_file(std::string_view path) const {
  const int error = remove_at(root_fd_.get(), path, 0);
  if (error != 0) return fail(system_error(error, fmt::format("'{}'", shown(path))));
  return {};
}

Result<> System::remove_directory(std::string_view path) const {
  const int error = remove_at(root_fd_.get(), path, AT_REMOVEDIR);
  if (error != 0) return fail(system_error(error, fmt::format("'{}'", shown(path))));
  return {};
}

Result<> System::set_mtime(std::string_view path, const timespec& mtime) const {
  Place place;
  int error = walk(root_fd_.get(), path, LastLink::follow, place);
  if (error == 0) {
    const timespec times[2] = {{0, UTIME_OMIT}, mtime};
    const char* name = place.name.empty() ? "." : place.name.c_str();
    if (::utimensat(place.parent.get(), name, times, AT_SYMLINK_NOFOLLOW) != 0) error = errno;
  }
  if (error != 0) return fail(system_error(error, fmt::format("'{}'", shown(path))));
  return {};
}

Result<Fd> System::lock(std::chrono::seconds wait) const {
  // A new open file description: the lock belongs to it and ends with it.
  Fd directory(::openat(root_fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return fail(system_error(errno, fmt::format("'{}'", root_)));
  const auto deadline = std::chrono::steady_clock::now() + wait;
  while (::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return fail(system_error(errno, fmt::format("locking '{}'", root_)));
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      return fail(Errc::busy, fmt::format("'{}': another peerpath is changing it", root_));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return directory;
}

Result<CommandResult> System::run(const Command& command) const {
  if (recording_ != nullptr) recording_->add_command(command.argv);
  return run_process(command, own_root_ ? -1 : root_fd_.get());
}

bool System::is_booted() const {
  if (!own_root_) return false;
  for (const std::string_view mark :
       {"/.dockerenv", "/run/.containerenv", "/run/systemd/container"}) {
    if (exists(mark)) return false;
  }
  struct stat init_root {};
  struct stat own {};
  // Where we may not look, as an ordinary user, we aren't in a chroot of root's either.
  if (::stat("/proc/1/root", &init_root) == 0 && ::stat("/", &own) == 0 &&
      (init_root.st_dev != own.st_dev || init_root.st_ino != own.st_ino)) {
    return false;
  }
  return exists("/run/systemd/system");
}

std::optional<std::string> System::machine() const {
  utsname name{};
  if (!own_root_ || ::uname(&name) != 0) return std::nullopt;
  return name.machine;
}

std::optional<std::string> System::kernel_release() const {
  utsname name{};
  if (!own_root_ || ::uname(&name) != 0) return std::nullopt;
  return name.release;
}

timespec System::now() const {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return time;
}

}  // namespace peerpath
