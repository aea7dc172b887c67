// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/cuda_driver.hpp"

#include "base/result.hpp"
#include "gpu/cuda_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace peerpath::gpu {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int answer_fd = 3;

/// Leaves the child nothing but /dev/null and its pipe. A child that can't be killed would keep
/// our standard output open, and whoever reads that would wait for its end for ever.
void detach_from_parent(int pipe_fd) {
  // Out of the way first: ours may be below 3, where our own caller closed those.
  pipe_fd = ::fcntl(pipe_fd, F_DUPFD, answer_fd + 1);
  const int null_fd = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < answer_fd; ++fd)
    ::dup2(null_fd, fd);
  // Closed on exec, for the driver starts nvidia-modprobe.
  ::dup3(pipe_fd, answer_fd, O_CLOEXEC);
#ifdef SYS_close_range
  ::syscall(SYS_close_range, answer_fd + 1, ~0U, 0);
#endif
}

[[noreturn]] void run_child(const std::string& library, int pipe_fd, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  detach_from_parent(pipe_fd);
  // A service manager or a shell may have limited what CUDA shows; we ask for the host's GPUs.
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  const Answer answer = ask_driver(library);
  // Not exit(): the driver's own handlers may hang.
  ::_exit(::write(answer_fd, &answer, sizeof answer) == sizeof answer ? 0 : 1);
}

std::optional<int> ended(pid_t child) {
  int status = 0;
  const pid_t found = ::waitpid(child, &status, WNOHANG);
  if (found == 0 || (found < 0 && errno == EINTR)) return std::nullopt;
  // Where our parent made us ignore SIGCHLD there's no status to be had.
  return found == child ? status : 0;
}

/// The wait status, or nothing where the process is still there after that time.
std::optional<int> wait_for_end(pid_t child, const DriverQuery& query) {
  const auto deadline = Clock::now() + query.grace;
  for (;;) {
    const auto status = query.has_ended ? query.has_ended(child) : ended(child);
    if (status || Clock::now() >= deadline) return status;
    std::this_thread::sleep_for(milliseconds(5));
  }
}

enum class Heard { answer, silence, end };

/// Waits for the child's answer until the deadline, or until the child closes its pipe.
Heard listen(int fd, Clock::time_point deadline, Answer& answer) {
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{fd, POLLIN, 0};
    const int ready =
        ::poll(&waiting, 1, static_cast<int>(std::clamp<long long>(left, 0, INT_MAX)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return Heard::silence;
    // The pipe took the answer in one piece, so it comes out in one piece.
    const auto got = ::read(fd, &answer, sizeof answer);
    if (got < 0 && errno == EINTR) continue;
    return got == static_cast<ssize_t>(sizeof answer) ? Heard::answer : Heard::end;
  }
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("the driver ended the asking process with signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("the driver ended the asking process with exit status {}",
                     WEXITSTATUS(status));
}

DriverReport from_answer(const Answer& answer) {
  DriverReport report;
  report.outcome = answer.outcome;
  report.devices = answer.devices;
  report.version = answer.version;
  report.code = answer.code;
  report.detail = answer.detail;
  return report;
}

/// `own_end` is the wait status of a child that ended unkilled.
DriverReport report_of(Heard heard, const Answer& answer, std::optional<int> own_end,
                       const DriverQuery& query) {
  if (heard == Heard::answer) return from_answer(answer);
  DriverReport report;
  if (heard == Heard::silence) {
    report.outcome = DriverOutcome::timed_out;
    report.detail = fmt::format("no answer from the driver within {} ms", query.limit.count());
  } else {
    report.outcome = DriverOutcome::crashed;
    report.detail = own_end ? describe_end(*own_end) : "the driver gave no answer and then hung";
  }
  return report;
}

DriverReport not_asked(const char* what) {
  DriverReport report;
  report.detail = system_error(errno, what).text();
  return report;
}

}  // namespace

DriverReport count_gpus(const DriverQuery& query) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return not_asked("pipe for the driver's answer");
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    auto report = not_asked("process that asks the driver");
    ::close(ends[0]);
    ::close(ends[1]);
    return report;
  }
  if (child == 0) run_child(query.soname, ends[1], parent);
  ::close(ends[1]);
  // The child does the same: whichever comes first, the group exists before we kill it.
  ::setpgid(child, child);

  Answer answer;
  const Heard heard = listen(ends[0], Clock::now() + query.limit, answer);
  ::close(ends[0]);
  std::optional<int> own_end;
  if (heard != Heard::silence) own_end = wait_for_end(child, query);
  auto report = report_of(heard, answer, own_end, query);
  if (!own_end) {
    ::kill(-child, SIGKILL);
    report.left_behind = !wait_for_end(child, query).has_value();
  }
  return report;
}

}  // namespace peerpath::gpu
