// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/selftest/worker_process.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace peerpath::gpu {
namespace {

constexpr std::size_t longest_line = 65'536;
constexpr std::size_t kept_errors = 2048;

/// The worker's environment: ours, but for all settings of CUDA. They decide which GPUs it shows,
/// and one that somebody left from looking for a bug would pass for a fault of the GPUs: with
/// CUDA_LAUNCH_BLOCKING a kernel that waits for its peer's ends before the peer's begins.
std::vector<std::string> worker_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with("CUDA_")) all.emplace_back(text);
  }
  all.emplace_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
  all.emplace_back("CUDA_CACHE_DISABLE=1");
  // Loading a kernel at its first launch may wait for the one that waits for it.
  all.emplace_back("CUDA_MODULE_LOADING=EAGER");
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Between fork and exec: system calls only. Says through `failure` why there's no worker.
[[noreturn]] void become_worker(char* const* arguments, char* const* environment,
                                const std::array<int, 3>& given, int failure) {
  const auto give_up = [](int where) {
    const int why = errno;
    (void)!::write(where, &why, sizeof(why));
    ::_exit(127);
  };
  ::setpgid(0, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  // Out of the way first: ours may be below 3, where our own caller closed those.
  std::array<int, 3> moved{};
  for (std::size_t i = 0; i < 3; ++i) {
    // With few descriptors allowed: a worker with our own standard output would write into it.
    if ((moved[i] = ::fcntl(given[i], F_DUPFD, 10)) < 0) give_up(failure);
  }
  const int moved_failure = ::fcntl(failure, F_DUPFD_CLOEXEC, 10);
  if (moved_failure < 0) give_up(failure);
  failure = moved_failure;
  for (int fd = 0; fd < 3; ++fd) {
    if (::dup2(moved[static_cast<std::size_t>(fd)], fd) < 0) give_up(failure);
  }
#ifdef SYS_close_range
  constexpr unsigned close_on_exec = 1U << 2;  // CLOSE_RANGE_CLOEXEC, Linux 5.11
  if (::syscall(SYS_close_range, 3, ~0U, close_on_exec) != 0)
#endif
  {
    for (int fd = 3; fd < 1024; ++fd)
      ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  ::execve(arguments[0], arguments, environment);
  give_up(failure);
  ::_exit(127);
}

std::optional<int> ended(pid_t child) {
  int status = 0;
  const pid_t found = ::waitpid(child, &status, WNOHANG);
  if (found == 0 || (found < 0 && errno == EINTR)) return std::nullopt;
  // Where our parent made us ignore SIGCHLD there's no status to be had.
  return found == child ? status : 0;
}

/// Appends what there is; closes at the end.
void drain(OwnFd& fd, std::string& text) {
  std::array<char, 16384> block{};
  // Not for ever: others want to be heard, too.
  for (int turn = 0; turn < 8 && fd.get() >= 0; ++turn) {
    const auto got = ::read(fd.get(), block.data(), block.size());
    if (got > 0) {
      text.append(block.data(), static_cast<std::size_t>(got));
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else if (got < 0 && errno == EAGAIN) {
      return;
    } else {
      fd.reset();
    }
  }
}

struct Ends {
  OwnFd ours;
  OwnFd theirs;
};

Result<Ends> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(system_error(errno, "pipe for a worker"));
  }
  return Ends{OwnFd(ends[0]), OwnFd(ends[1])};
}

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

OwnFd::OwnFd(OwnFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

OwnFd& OwnFd::operator=(OwnFd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void OwnFd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

WorkerProcess::WorkerProcess(pid_t pid, OwnFd input, OwnFd output, OwnFd errors, HasEnded has_ended)
    : pid_(pid),
      input_(std::move(input)),
      output_(std::move(output)),
      errors_(std::move(errors)),
      has_ended_(std::move(has_ended)) {}

Result<WorkerProcess> WorkerProcess::start(const std::string& path, HasEnded has_ended) {
  // A socket, for writing to one whose other end is gone need not raise SIGPIPE.
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    return fail(system_error(errno, "socket for a worker"));
  }
  OwnFd input(sockets[0]);
  OwnFd their_input(sockets[1]);
  auto output = make_pipe();
  auto errors = make_pipe();
  auto failure = make_pipe();
  if (!output) return fail(output.error());
  if (!errors) return fail(errors.error());
  if (!failure) return fail(failure.error());

  std::vector<std::string> argument_texts = {path};
  auto environment_texts = worker_environment();
  const auto arguments = pointers_to(argument_texts);
  const auto environment = pointers_to(environment_texts);
  const std::array<int, 3> given = {their_input.get(), output->theirs.get(), errors->theirs.get()};
  const pid_t child = ::fork();
  if (child < 0) return fail(system_error(errno, "process for a worker"));
  if (child == 0) {
    become_worker(arguments.data(), environment.data(), given, failure->theirs.get());
  }
  // The child does the same: whichever comes first, the group exists before we kill it.
  ::setpgid(child, child);
  failure->theirs.reset();
  int why = 0;
  ssize_t got = 0;
  do {
    got = ::read(failure->ours.get(), &why, sizeof(why));
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof(why))) {
    ::waitpid(child, nullptr, 0);
    return fail(system_error(why, fmt::format("'{}'", path)));
  }
  ::fcntl(output->ours.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(errors->ours.get(), F_SETFL, O_NONBLOCK);
  return WorkerProcess(child, std::move(input), std::move(output->ours), std::move(errors->ours),
                       std::move(has_ended));
}

bool WorkerProcess::send(std::string_view text) {
  while (!text.empty()) {
    const auto sent = ::send(input_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::vector<std::string> WorkerProcess::read_lines() {
  drain(output_, partial_);
  std::vector<std::string> found;
  std::size_t begin = 0;
  for (auto end = partial_.find('\n'); end != std::string::npos; end = partial_.find('\n', begin)) {
    found.push_back(partial_.substr(begin, end - begin));
    begin = end + 1;
  }
  partial_.erase(0, begin);
  if (partial_.size() > longest_line) found.push_back(std::exchange(partial_, {}));
  return found;
}

void WorkerProcess::read_errors() {
  drain(errors_, error_text_);
  if (error_text_.size() > kept_errors) {
    error_text_.erase(0, error_text_.size() - kept_errors);
  }
}

std::string WorkerProcess::last_errors() const {
  std::vector<std::string> kept;
  for (const auto line : lines(error_text_)) {
    if (!trim(line).empty()) kept.push_back(printable(trim(line)));
  }
  constexpr std::size_t most = 3;
  if (kept.size() > most) {
    kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(most));
  }
  return join(kept, "; ");
}

void WorkerProcess::kill() {
  if (!status_) ::kill(-pid_, SIGKILL);
}

std::optional<int> WorkerProcess::status() {
  if (!status_) status_ = has_ended_ ? has_ended_(pid_) : ended(pid_);
  return status_;
}

std::string describe_status(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("ended with exit status {}", WEXITSTATUS(status));
  constexpr std::array<std::pair<int, const char*>, 8> names = {{{SIGSEGV, "SIGSEGV"},
                                                                 {SIGBUS, "SIGBUS"},
                                                                 {SIGABRT, "SIGABRT"},
                                                                 {SIGKILL, "SIGKILL"},
                                                                 {SIGILL, "SIGILL"},
                                                                 {SIGFPE, "SIGFPE"},
                                                                 {SIGTERM, "SIGTERM"},
                                                                 {SIGTRAP, "SIGTRAP"}}};
  const int signal = WTERMSIG(status);
  const auto* const found = std::find_if(names.begin(), names.end(),
                                         [signal](const auto& n) { return n.first == signal; });
  return fmt::format("ended with signal {} ({})", signal,
                     found != names.end() ? found->second : ::strsignal(signal));
}

std::string describe_stuck(pid_t pid) {
  const auto stat = first_line_of(fmt::format("/proc/{}/stat", pid));
  const auto after_name = stat.rfind(") ");
  if (after_name == std::string::npos || after_name + 2 >= stat.size()) return {};
  auto text = fmt::format("state {}", stat[after_name + 2]);
  const auto place = first_line_of(fmt::format("/proc/{}/wchan", pid));
  if (!place.empty() && place != "0") text += ", waits in " + printable(place);
  return text;
}

}  // namespace peerpath::gpu
