// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "gpu/cuda_driver.hpp"

#include <climits>
#include <string>
#include <string_view>
#include <type_traits>

namespace peerpath::gpu {

/// What the asking process writes into its pipe, in one piece.
struct Answer {
  DriverOutcome outcome = DriverOutcome::not_asked;
  int devices = 0;
  int version = 0;
  unsigned code = 0;
  char detail[1024] = {};  ///< ends with a zero byte; longer texts are cut
};
static_assert(std::is_trivially_copyable_v<Answer>);
static_assert(sizeof(Answer) <= PIPE_BUF, "a pipe takes it whole or not at all");

/// Loads the driver into this very process and asks. May hang or crash: only for a child process.
[[nodiscard]] Answer ask_driver(const std::string& library);

/// Puts a text into the answer, cut to the room there is.
void set_detail(Answer& answer, std::string_view text);

}  // namespace peerpath::gpu
