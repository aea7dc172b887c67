// SPDX-License-Identifier: GPL-2.0-or-later
// peerpath-p2p-worker: the process that loads the CUDA driver, so that peerpath itself need not
// survive it.
#include "gpu/worker/session.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

constexpr const char* help =
    "peerpath-p2p-worker is peerpath's own, and not for people: 'peerpath selftest' starts it.\n";

/// At once, without what a driver that hangs would do at an orderly end.
[[noreturn]] void end_now(int status) {
  ::_exit(status);
}

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) end_now(1);  // the parent is gone
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// The lines of standard input. The parent's end is ours.
class Input {
 public:
  std::string line() {
    for (;;) {
      if (const auto end = text_.find('\n'); end != std::string::npos) {
        auto line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return line;
      }
      fill();
    }
  }

 private:
  void fill() {
    std::array<char, 4096> part{};
    const auto count = ::read(STDIN_FILENO, part.data(), part.size());
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) end_now(1);
    text_.append(part.data(), static_cast<std::size_t>(count));
  }
  std::string text_;
};

/// Standard output is the protocol's alone: what the driver prints goes to standard error. Gives
/// the protocol's file; below zero where there's none.
int take_output() {
  const int output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  return ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? -1 : output;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    return std::fputs(help, stdout) < 0 ? 1 : 0;
  }
  if (argc != 1) {
    std::fputs("peerpath-p2p-worker: it takes no arguments\n", stderr);
    return 2;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_IGN);
  const int output = take_output();
  if (output < 0) return 1;
  Input input;
  const peerpath::gpu::Parent parent{
      [&] { return input.line(); },
      [&](const peerpath::gpu::Message& message) { write_all(output, encode(message)); }};
  return peerpath::gpu::run_session(parent) ? 0 : 1;
}
