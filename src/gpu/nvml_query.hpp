// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "gpu/asking_process.hpp"
#include "gpu/nvml_abi.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace peerpath::gpu {

/// What the asking process writes into its pipe.
struct NvmlAnswer : Saying {
  /// More than any host has: the largest have 32.
  static constexpr unsigned most = 64;

  enum class Switch : std::uint8_t { absent, off, on };
  struct Gpu {
    char bdf[24] = {};
    std::uint64_t memory = 0;  ///< bytes; 0 where the library doesn't tell
    Switch mig = Switch::absent;
    bool processes_known = false;
    unsigned processes = 0;  ///< that compute on it
  };
  struct Peer {
    nvml::PeerStatus status[nvml::capabilities] = {};
  };

  unsigned count = 0;
  Switch confidential_computing = Switch::absent;
  Gpu gpus[most] = {};
  Peer peers[most][most] = {};
};

/// Loads the library into this very process and asks. May hang or crash: only for a child process.
[[nodiscard]] NvmlAnswer ask_management_library(const std::string& soname);

/// "0000:3b:00.0" for "00000000:3B:00.0"; nothing for what's no such address.
[[nodiscard]] std::optional<std::string> kernel_address(std::string_view bus_id);

}  // namespace peerpath::gpu
