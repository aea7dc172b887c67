// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/progress.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace peerpath::cli {
namespace {

constexpr std::size_t bar_width = 20;
constexpr const char* clear_line = "\r\033[K";

std::size_t terminal_width() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

std::string time_text(std::chrono::seconds time) {
  const auto seconds = time.count();
  if (seconds < 60) return fmt::format("{} s", seconds);
  return fmt::format("{} min {} s", seconds / 60, seconds % 60);
}

}  // namespace

std::string progress_line(const gpu::Progress& progress, std::size_t width) {
  const auto all = std::max<std::size_t>(progress.all, 1);
  const auto done = std::min(progress.done, all);
  const auto filled = done * bar_width / all;
  const auto line = fmt::format("[{}{}] {:>3} %  {} left  {}", std::string(filled, '#'),
                                std::string(bar_width - filled, '.'), done * 100 / all,
                                time_text(progress.left), printable(progress.now));
  return line.substr(0, width);
}

ProgressBar::ProgressBar() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (is_shown_) std::fputs(clear_line, stderr);
}

void ProgressBar::show(const gpu::Progress& progress) {
  if (!is_terminal_) return;
  is_shown_ = true;
  // The last column would wrap on some terminals.
  const auto line = progress_line(progress, terminal_width() - 1);
  std::fputs((clear_line + line).c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace peerpath::cli
