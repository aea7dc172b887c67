// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "sys/fd.hpp"

#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace peerpath {

class Recording;
enum class LastLink;

enum class FileKind { regular, directory, symlink, other };

struct FileInfo {
  FileKind kind = FileKind::other;
  mode_t mode = 0;  ///< permission bits only
  uid_t uid = 0;
  gid_t gid = 0;
  std::uint64_t size = 0;
  timespec mtime = {};
};

/// A file's content with what's known of it.
struct FileText {
  std::string content;
  FileInfo info;
  bool through_link = false;  ///< the path itself is a symbolic link
};

/// A file to be written, see `System::write`.
struct FileWrite {
  std::string path;
  std::string content;
  mode_t mode = 0644;                       ///< of a file that's new
  std::optional<timespec> mtime = {};       ///< given to the file before it's in place
  std::optional<FileInfo> instead_of = {};  ///< what's to be replaced, and nothing newer
};

/// Takes bytes as they come, in pieces of any size.
using Sink = std::function<void(std::string_view bytes)>;

/// A program to run. No shell is involved and nothing of our environment is passed on.
struct Command {
  std::vector<std::string> argv;
  std::vector<std::string> environment = {};  ///< `NAME=value`, beside PATH and LC_ALL=C
  std::chrono::seconds limit{60};
  /// Gets the standard output, all of it, in place of `CommandResult::out`, which stays empty.
  Sink on_output = {};
};

struct CommandResult {
  int status = -1;         ///< exit status; 128 + N where signal N ended it
  bool timed_out = false;  ///< it ran past its limit and was killed with its children
  std::string out;
  std::string err;
};

/// The only door to the machine: files under one root, commands run inside it, and facts of the
/// running kernel where that root is the booted system. Paths are absolute as seen from inside
/// the root; symbolic links, absolute ones too, and `..` resolve inside it and never leave it.
/// Errors name the file as seen from outside.
class System {
 public:
  /// Reads of more than this are refused: none of the files that we read is near it.
  static constexpr std::size_t read_limit = 16U << 20U;
  /// A device that fills faster than it's read mustn't keep us for ever.
  static constexpr std::uint64_t stream_limit = 1U << 30U;

  /// Opens a root directory. Errors: not_found, denied.
  [[nodiscard]] static Result<std::unique_ptr<System>> open(const std::string& root);

  virtual ~System() = default;
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  [[nodiscard]] const std::string& root() const { return root_; }
  /// Whether the root is this process's own `/`. Only then do /proc, /sys and uname speak of it.
  [[nodiscard]] bool is_own_root() const { return own_root_; }
  /// From here on, what's looked at is noted in the recording, which must outlive that; with
  /// nullptr no more.
  void record(Recording* recording) { recording_ = recording; }
  /// The path as a person outside the root would write it, for messages.
  [[nodiscard]] std::string shown(std::string_view path) const;

  // Reading.
  [[nodiscard]] Result<std::string> read(std::string_view path,
                                         std::size_t limit = read_limit) const;
  /// The same with what a look at the open file says of it. Errors: as for `read`.
  [[nodiscard]] Result<FileText> read_file(std::string_view path) const;
  /// Up to `length` bytes from `offset` on, fewer where the file ends before; for files that are
  /// too large for `read`. Errors: too_large for a length of more than `read_limit`.
  [[nodiscard]] Result<std::string> read_range(std::string_view path, std::uint64_t offset,
                                               std::size_t length) const;
  /// Hands a file of any size over piece by piece, without holding it. Of a character device, which
  /// may only be one of our own root's, it's what is there now: it never waits for more, and goes
  /// on where a device says that something was overwritten meanwhile (EPIPE, as /dev/kmsg does).
  /// Errors: too_large after `stream_limit` bytes; what came before an error has been handed over.
  [[nodiscard]] Result<> stream(std::string_view path, const Sink& sink) const;
  /// Names in a directory, sorted, without `.` and `..`.
  [[nodiscard]] Result<std::vector<std::string>> list(std::string_view path) const;
  /// Names of those that are regular files, as far as the file system tells without a look at each.
  [[nodiscard]] Result<std::vector<std::string>> list_files(std::string_view path) const;
  /// Follows symbolic links.
  [[nodiscard]] Result<FileInfo> info(std::string_view path) const;
  /// Of the path itself, where it's a symbolic link.
  [[nodiscard]] Result<FileInfo> link_info(std::string_view path) const;
  [[nodiscard]] Result<std::string> read_link(std::string_view path) const;
  /// The path without symbolic links and `..`, as seen from inside the root.
  [[nodiscard]] Result<std::string> resolve(std::string_view path) const;
  [[nodiscard]] bool exists(std::string_view path) const;
  /// Whether another file system, or another part of one, is mounted on this directory; symbolic
  /// links are followed. Facts: statx(2), STATX_ATTR_MOUNT_ROOT, since Linux 5.8. Older kernels
  /// don't tell: there the device is compared with the parent's, so that a bind mount from the
  /// same file system goes unseen and a Btrfs subvolume passes for one.
  [[nodiscard]] Result<bool> is_mount_point(std::string_view path) const;

  // Writing. Each is atomic: after a failure, or a crash, the old state stands.
  /// Writes a file through a temporary one beside it, synced, then renamed. A symbolic link is
  /// followed inside the root and stays. An existing file's mode, owner and extended attributes
  /// are kept; a new one gets `mode`, root's ownership being the process's.
  [[nodiscard]] Result<> write(std::string_view path, std::string_view content,
                               mode_t mode = 0644) const;
  /// The same for several files: all are on the disk before the first is put into place, and a
  /// directory is synced once. Returns the time that each has got. After a failure some may be the
  /// new ones. Errors: conflict where a file isn't `instead_of` any more, by its time and size, or
  /// is gone.
  [[nodiscard]] Result<std::vector<timespec>> write(const std::vector<FileWrite>& files) const;
  /// Removes the temporary file that a `write` to this path left when it was killed, if it did.
  [[nodiscard]] Result<> remove_leftover(std::string_view path) const;
  [[nodiscard]] Result<> make_directory(std::string_view path, mode_t mode = 0755) const;
  [[nodiscard]] Result<> remove_file(std::string_view path) const;
  [[nodiscard]] Result<> remove_directory(std::string_view path) const;
  /// Sets the modification time; the access time stays.
  [[nodiscard]] Result<> set_mtime(std::string_view path, const timespec& mtime) const;

  /// The one lock of a root, held until the returned descriptor closes: an advisory lock on the
  /// root directory itself, so that it works read-only and leaves nothing behind.
  /// Errors: busy, after waiting that long for another process.
  [[nodiscard]] Result<Fd> lock(std::chrono::seconds wait) const;

  /// Runs a program inside the root (chroot where it isn't our own). A program that ends with
  /// another status than 0 is a result, not an error. Errors: not_found where there is no such
  /// program, denied, command_failed where it can't be started.
  [[nodiscard]] virtual Result<CommandResult> run(const Command& command) const;

  /// Whether the root is the system that this kernel booted: our own root, not that of a chroot
  /// or a container, and an init has come up in it (sd_booted(3)).
  [[nodiscard]] virtual bool is_booted() const;

  /// `uname -m` and `uname -r` of the running kernel; nothing under another root.
  [[nodiscard]] virtual std::optional<std::string> machine() const;
  [[nodiscard]] virtual std::optional<std::string> kernel_release() const;
  /// Seconds and nanoseconds of the wall clock.
  [[nodiscard]] virtual timespec now() const;

 protected:
  System(std::string root, Fd root_fd, bool own_root);

 private:
  [[nodiscard]] Result<FileText> load(std::string_view path, std::size_t limit, int flags) const;
  [[nodiscard]] Result<std::string> load_range(std::string_view path, std::uint64_t offset,
                                               std::size_t length) const;
  [[nodiscard]] Result<std::vector<std::string>> names_in(std::string_view path,
                                                          bool files_only) const;
  [[nodiscard]] Result<FileText> read_file(std::string_view path, std::size_t limit,
                                           int flags) const;
  std::optional<std::string> note(std::string_view path, LastLink last_link,
                                  FileKind expected = FileKind::other,
                                  const Error* error = nullptr) const;
  Result<std::vector<std::string>> noted(std::string_view path,
                                         Result<std::vector<std::string>> names) const;

  std::string root_;
  Fd root_fd_;
  bool own_root_;
  Recording* recording_ = nullptr;
};

}  // namespace peerpath
