// SPDX-License-Identifier: GPL-2.0-or-later
// A worker as the parent has it: a process in its own group, that may hang, crash, print anything,
// or not end on SIGKILL.
#pragma once

#include "base/result.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace peerpath::gpu {

/// A descriptor that's closed with it.
class OwnFd {
 public:
  OwnFd() = default;
  explicit OwnFd(int fd) : fd_(fd) {}
  OwnFd(OwnFd&& other) noexcept;
  OwnFd& operator=(OwnFd&& other) noexcept;
  OwnFd(const OwnFd&) = delete;
  OwnFd& operator=(const OwnFd&) = delete;
  ~OwnFd() { reset(); }
  [[nodiscard]] int get() const { return fd_; }
  void reset();

 private:
  int fd_ = -1;
};

/// Asks once, without waiting, whether the process has ended, and with which wait(2) status.
using HasEnded = std::function<std::optional<int>(pid_t)>;

/// Its owner sees to its end: the destructor only closes what leads to it.
class WorkerProcess {
 public:
  /// Errors: from pipe(2), fork(2) and execve(2).
  [[nodiscard]] static Result<WorkerProcess> start(const std::string& path, HasEnded has_ended);

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] int output() const { return output_.get(); }  ///< -1 once it's closed
  [[nodiscard]] int errors() const { return errors_.get(); }

  /// False where the worker doesn't take it: it has ended, or doesn't read.
  [[nodiscard]] bool send(std::string_view text);
  /// What has come since, without waiting. A line longer than 64 KiB is cut into several.
  [[nodiscard]] std::vector<std::string> read_lines();
  /// Keeps the last lines of standard error.
  void read_errors();
  [[nodiscard]] std::string last_errors() const;  ///< one line; may be empty

  /// SIGKILL to the group.
  void kill();
  /// The wait status once it has ended. Never waits.
  [[nodiscard]] std::optional<int> status();

 private:
  WorkerProcess(pid_t pid, OwnFd input, OwnFd output, OwnFd errors, HasEnded has_ended);
  pid_t pid_ = -1;
  OwnFd input_;
  OwnFd output_;
  OwnFd errors_;
  HasEnded has_ended_;
  std::optional<int> status_;
  std::string partial_;
  std::string error_text_;
};

/// "ended with signal 11 (SIGSEGV)", "ended with exit status 1".
[[nodiscard]] std::string describe_status(int status);

/// What /proc tells of a process that doesn't end: "state D, waits in nv_lock"; may be empty.
[[nodiscard]] std::string describe_stuck(pid_t pid);

}  // namespace peerpath::gpu
