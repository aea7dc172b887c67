// SPDX-License-Identifier: GPL-2.0-or-later
// Several workers at once, each with a job; one loop hears all of them.
#pragma once

#include "gpu/selftest/worker_process.hpp"
#include "gpu/worker/protocol.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace peerpath::gpu {

/// How a worker ended.
struct WorkerEnd {
  enum class Kind { done, failed, hang, crashed, killed, no_time, not_started };
  Kind kind = Kind::done;
  Failed failed;                ///< what it said, where it failed
  std::string reason;           ///< one line; empty for `done`
  std::optional<Begin> during;  ///< the test that had begun and not ended
  bool has_lost = false;        ///< it's done, and not all that it said could be read
  pid_t left_behind = 0;        ///< its id, where it didn't end on SIGKILL
};

class Crew {
 public:
  using Clock = std::chrono::steady_clock;
  using Id = std::size_t;  ///< the caller's name for a job

  struct Limits {
    Clock::time_point deadline;         ///< then all are killed
    std::chrono::milliseconds silence;  ///< that counts as a hang
    std::chrono::milliseconds grace;    ///< for a killed one to end
  };
  struct Callbacks {
    /// The next job that may begin now. Asked again after each end, and not after the deadline.
    std::function<std::optional<std::pair<Id, Job>>()> next;
    std::function<void(Id, const Message&)> heard;
    std::function<void(Id, const WorkerEnd&)> ended;
    /// Before a test begins, with all that run then. False: it's skipped.
    std::function<bool(const std::vector<std::pair<Id, Begin>>&, Id)> may_begin;
    HasEnded has_ended;
  };

  Crew(std::string worker, Limits limits, Callbacks callbacks);
  /// Returns when none is left. With `together`, no worker begins Test::concurrent before all that
  /// are left are ready to.
  void run(bool together = false);

 private:
  struct Member {
    Id id;
    WorkerProcess process;
    Clock::time_point heard;
    std::optional<Begin> asked;    ///< waits for our leave
    std::optional<Begin> running;  ///< has it
    std::uint64_t said = 0;        ///< messages that `done` counts
    bool is_done = false;
    bool has_lost = false;  ///< it says that there were more
    std::optional<Failed> failed;
    std::optional<WorkerEnd> killed;  ///< why we killed it
    Clock::time_point kill_time;
  };

  void start(Id id, const Job& job);
  void end_unstarted(Id id, const std::string& reason) const;
  void answer(bool together);
  void wait();
  void hear(Member& member);
  void take(Member& member, const Message& message) const;
  void check_time(Member& member);
  void kill(Member& member, WorkerEnd::Kind kind, std::string reason);
  /// The end, where it has come.
  [[nodiscard]] std::optional<WorkerEnd> end_of(Member& member) const;

  std::string worker_;
  Limits limits_;
  Callbacks callbacks_;
  std::vector<Member> members_;
};

}  // namespace peerpath::gpu
