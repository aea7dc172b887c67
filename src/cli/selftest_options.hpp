// SPDX-License-Identifier: GPL-2.0-or-later
// The values of the self-test's options and settings. Pure.
#pragma once

#include "base/result.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace peerpath::cli {

/// "0000:3b:00.0" for any form of an address, or "GPU-…" as it is. Errors: usage.
[[nodiscard]] Result<std::string> parse_gpu_name(std::string_view text);

/// Seconds, from 1 to a day. Errors: usage.
[[nodiscard]] Result<std::chrono::seconds> parse_budget(std::string_view text);

/// Bytes: a number of at least 8 after its K, M or G. Errors: usage.
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);

}  // namespace peerpath::cli
