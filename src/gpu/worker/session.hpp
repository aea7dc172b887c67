// SPDX-License-Identifier: GPL-2.0-or-later
// What the worker does from its job's first line to `done`.
#pragma once

#include "gpu/worker/protocol.hpp"

#include <functional>
#include <string>

namespace peerpath::gpu {

/// The parent. Both functions end the worker themselves where it's gone.
struct Parent {
  std::function<std::string()> line;  ///< the next one, without its end
  std::function<void(const Message&)> say;
};

/// Does the job. `false` where it ended with `failed`.
[[nodiscard]] bool run_session(const Parent& to_parent);

}  // namespace peerpath::gpu
