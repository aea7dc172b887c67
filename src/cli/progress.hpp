// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "gpu/selftest/selftest.hpp"

#include <string>

namespace peerpath::cli {

/// "[####......]  40 %  12 s left  0000:3b:00.0 -> 0000:86:00.0 ce-write", in at most `width`
/// columns.
[[nodiscard]] std::string progress_line(const gpu::Progress& progress, std::size_t width);

/// Shows it in one line of standard error, over and over. Nothing where that's no terminal.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const gpu::Progress& progress);

 private:
  bool is_terminal_;
  bool is_shown_ = false;
};

}  // namespace peerpath::cli
