// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/process.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace peerpath {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t output_limit = 4U << 20U;
constexpr std::string_view search_path =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

struct Pipe {
  Fd read;
  Fd write;
};

int open_pipe(Pipe& pipe) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
  pipe.read.reset(ends[0]);
  pipe.write.reset(ends[1]);
  return 0;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (auto& string : strings)
    result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

/// Where the program may be. execvp(3) would search the caller's PATH, which isn't ours to trust.
std::vector<std::string> candidates(const std::string& program) {
  if (program.find('/') != std::string::npos) return {program};
  std::vector<std::string> paths;
  for (const auto directory : split(search_path, ':')) {
    paths.push_back(fmt::format("{}/{}", directory, program));
  }
  return paths;
}

/// What the child does between fork and exec; only async-signal-safe calls.
[[noreturn]] void become(const std::vector<char*>& paths, char* const* argv,
                         char* const* environment, int root, const Pipe& out, const Pipe& err,
                         const Pipe& failure) {
  ::setpgid(0, 0);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  const int null = ::open("/dev/null", O_RDONLY);
  // An image may have no /dev/null: then the program has no standard input at all.
  if (null < 0 || ::dup2(null, STDIN_FILENO) < 0) ::close(STDIN_FILENO);
  const bool ready = ::dup2(out.write.get(), STDOUT_FILENO) >= 0 &&
                     ::dup2(err.write.get(), STDERR_FILENO) >= 0 &&
                     (root < 0 || (::fchdir(root) == 0 && ::chroot(".") == 0)) && ::chdir("/") == 0;
  int error = errno;
  for (std::size_t i = 0; ready && paths[i] != nullptr; ++i) {
    ::execve(paths[i], argv, environment);
    error = errno;
    if (error != ENOENT && error != ENOTDIR) break;
  }
  [[maybe_unused]] const auto ignored = ::write(failure.write.get(), &error, sizeof error);
  ::_exit(127);
}

/// Moves what is there from a pipe to `sink`. Returns false at its end.
bool drain(int fd, const Sink& sink) {
  std::array<char, 16384> buffer{};
  const auto length = ::read(fd, buffer.data(), buffer.size());
  if (length < 0) return errno == EINTR || errno == EAGAIN;
  if (length == 0) return false;
  sink({buffer.data(), static_cast<std::size_t>(length)});
  return true;
}

Sink append_to(std::string& text) {
  return [&text](std::string_view bytes) {
    text += bytes.substr(0, output_limit - std::min(output_limit, text.size()));
  };
}

/// Reads both streams until they end or the deadline passes. Returns false at the deadline.
bool collect(const Pipe& out, const Pipe& err, Clock::time_point deadline, const Sink& on_output,
             const Sink& on_error) {
  std::array<pollfd, 2> streams{{{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}}};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    if (::poll(streams.data(), streams.size(), static_cast<int>(left)) < 0) continue;
    if (streams[0].revents != 0 && !drain(streams[0].fd, on_output)) streams[0].fd = -1;
    if (streams[1].revents != 0 && !drain(streams[1].fd, on_error)) streams[1].fd = -1;
  }
  return true;
}

/// Waits for the child until the deadline. Returns false there.
bool reap(pid_t child, Clock::time_point deadline, int& status) {
  for (;;) {
    const auto ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return true;
    if (Clock::now() >= deadline) return false;
    ::usleep(2000);
  }
}

}  // namespace

Result<CommandResult> run_process(const Command& command, int root) {
  std::vector<std::string> argv = command.argv;
  std::vector<std::string> paths = candidates(argv.at(0));
  std::vector<std::string> environment = {fmt::format("PATH={}", search_path), "LC_ALL=C"};
  environment.insert(environment.end(), command.environment.begin(), command.environment.end());
  const auto path_pointers = pointers(paths);
  const auto argv_pointers = pointers(argv);
  const auto environment_pointers = pointers(environment);
  const auto cannot_start = [&](int error) {
    auto reason = system_error(error, fmt::format("cannot run '{}'", command.argv.at(0)));
    if (reason.code == Errc::internal || reason.code == Errc::invalid)
      reason.code = Errc::command_failed;
    return fail(std::move(reason));
  };

  Pipe out;
  Pipe err;
  Pipe failure;
  for (auto* pipe : {&out, &err, &failure}) {
    if (const int error = open_pipe(*pipe); error != 0) return cannot_start(error);
  }
  const pid_t child = ::fork();
  if (child < 0) return cannot_start(errno);
  if (child == 0) {
    become(path_pointers, argv_pointers.data(), environment_pointers.data(), root, out, err,
           failure);
  }
  for (auto* pipe : {&out, &err, &failure})
    pipe->write.reset();

  int exec_error = 0;
  ssize_t length = 0;
  do {
    length = ::read(failure.read.get(), &exec_error, sizeof exec_error);
  } while (length < 0 && errno == EINTR);

  CommandResult result;
  int status = 0;
  const auto deadline = Clock::now() + command.limit;
  const auto on_output = command.on_output ? command.on_output : append_to(result.out);
  if (!collect(out, err, deadline, on_output, append_to(result.err)) ||
      !reap(child, deadline, status)) {
    result.timed_out = true;
    ::kill(-child, SIGKILL);
    // A process stuck in the kernel can't be killed; it's left behind rather than waited for.
    reap(child, Clock::now() + std::chrono::seconds(2), status);
  }
  if (length == sizeof exec_error) return cannot_start(exec_error);
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.status = 128 + WTERMSIG(status);
  return result;
}

bool is_superuser() {
  return ::geteuid() == 0;
}

}  // namespace peerpath
