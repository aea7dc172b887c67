// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/asking_process.hpp"

#include "base/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

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

bool write_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(answer_fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

[[noreturn]] void run_child(const std::function<void()>& fill, std::span<const std::byte> bytes,
                            int pipe_fd, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  detach_from_parent(pipe_fd);
  fill();
  // Not exit(): the driver's own handlers may hang.
  ::_exit(write_all(bytes) ? 0 : 1);
}

std::optional<int> ended(pid_t child) {
  int status = 0;
  const pid_t found = ::waitpid(child, &status, WNOHANG);
  if (found == 0 || (found < 0 && errno == EINTR)) return std::nullopt;
  // Where our parent made us ignore SIGCHLD there's no status to be had.
  return found == child ? status : 0;
}

/// The wait status, or nothing where the process is still there after that time.
std::optional<int> wait_for_end(pid_t child, const LibraryQuery& query) {
  const auto deadline = Clock::now() + query.grace;
  for (;;) {
    const auto status = query.has_ended ? query.has_ended(child) : ended(child);
    if (status || Clock::now() >= deadline) return status;
    std::this_thread::sleep_for(milliseconds(5));
  }
}

enum class Heard { answer, silence, end };

/// Waits for all of the child's answer until the deadline, or until the child closes its pipe.
Heard listen(int fd, Clock::time_point deadline, std::span<std::byte> answer) {
  while (!answer.empty()) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{fd, POLLIN, 0};
    const int ready =
        ::poll(&waiting, 1, static_cast<int>(std::clamp<long long>(left, 0, INT_MAX)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return Heard::silence;
    const auto got = ::read(fd, answer.data(), answer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Heard::end;
    answer = answer.subspan(static_cast<std::size_t>(got));
  }
  return Heard::answer;
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("the driver ended the asking process with signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("the driver ended the asking process with exit status {}",
                     WEXITSTATUS(status));
}

/// `own_end` is the wait status of a child that ended unkilled.
void say_why_unanswered(Heard heard, std::optional<int> own_end, const LibraryQuery& query,
                        Saying& saying) {
  if (heard == Heard::silence) {
    saying.say(DriverOutcome::timed_out,
               fmt::format("no answer from the driver within {} ms", query.limit.count()));
  } else {
    saying.say(DriverOutcome::crashed,
               own_end ? describe_end(*own_end) : "the driver gave no answer and then hung");
  }
}

bool not_asked(const char* what, Saying& saying) {
  saying.say(DriverOutcome::not_asked, system_error(errno, what).text());
  return false;
}

/// The loader says this of the library itself where it's absent; of another file where the
/// library is there and needs one that is absent.
bool says_absent(std::string_view error, const std::string& library) {
  return error == library + ": cannot open shared object file: No such file or directory";
}

}  // namespace

void Saying::say(DriverOutcome what, std::string_view text) {
  outcome = what;
  const auto length = std::min(text.size(), sizeof(detail) - 1);
  std::copy_n(text.data(), length, detail);
  detail[length] = '\0';
}

std::optional<SharedLibrary> load_to_ask(const std::string& soname, Saying& saying) {
  auto loaded = SharedLibrary::load(soname);
  if (loaded) return *loaded;
  const auto& text = loaded.error().message;
  saying.say(says_absent(text, soname) ? DriverOutcome::no_driver : DriverOutcome::unusable, text);
  return std::nullopt;
}

bool ask_in_child(const LibraryQuery& query, const std::function<void()>& fill,
                  std::span<std::byte> bytes, Saying& saying) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return not_asked("pipe for the driver's answer", saying);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    not_asked("process that asks the driver", saying);
    ::close(ends[0]);
    ::close(ends[1]);
    return false;
  }
  if (child == 0) run_child(fill, bytes, ends[1], parent);
  ::close(ends[1]);
  // The child does the same: whichever comes first, the group exists before we kill it.
  ::setpgid(child, child);

  std::vector<std::byte> answer(bytes.size());
  const Heard heard = listen(ends[0], Clock::now() + query.limit, answer);
  ::close(ends[0]);
  std::optional<int> own_end;
  if (heard != Heard::silence) own_end = wait_for_end(child, query);
  if (heard == Heard::answer) {
    std::copy(answer.begin(), answer.end(), bytes.begin());
  } else {
    say_why_unanswered(heard, own_end, query, saying);
  }
  if (own_end) return false;
  ::kill(-child, SIGKILL);
  return !wait_for_end(child, query).has_value();
}

}  // namespace peerpath::gpu
