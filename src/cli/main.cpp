// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/exit_status.hpp"
#include "cli/application.hpp"

#include <csignal>
#include <exception>
#include <iostream>
#include <unistd.h>

int main(int argc, char** argv) {
  // A reader that went away is a write error, not a reason to die half-way through a change.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // nor is a file that would grow beyond `ulimit -f`
  try {
    return peerpath::cli::run_application({argv + 1, argv + argc}, std::cout, std::cerr,
                                          ::isatty(STDOUT_FILENO) == 1);
  } catch (const std::exception& error) {
    std::cerr << "peerpath: internal error: " << error.what() << '\n';
    return static_cast<int>(peerpath::ExitStatus::failed);
  }
}
