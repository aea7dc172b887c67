// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "gpu/selftest/selftest.hpp"
#include "sys/system.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace peerpath::cli {

/// /etc/peerpath/peerpath.conf and /etc/peerpath/peerpath.conf.d/*.conf; see peerpath.conf(5).
struct Settings {
  /// Which PCI functions are checked. The default: NVIDIA's display and 3D controllers.
  std::vector<std::string> match = {"10de:*:0300", "10de:*:0302"};
  bool rdma_nics = false;  ///< RDMA network adapters are checked, too
  bool arm64_passthrough = false;
  bool uki_addon = false;               ///< add an addon to images that were built elsewhere
  std::string secure_boot_key;          ///< signs it; a path inside the root
  std::string secure_boot_certificate;  ///< likewise
  std::optional<gpu::Depth> selftest = gpu::Depth::quick;  ///< of the check at boot; nothing: off
  std::chrono::seconds selftest_budget{600};               ///< likewise
  std::string prometheus_textfile;  ///< where the check at boot puts its metrics; empty: nowhere
};

/// Reads the files in order; a later value of a setting replaces an earlier file's. No file is
/// needed. Errors: malformed, with file and line; those of reading.
[[nodiscard]] Result<Settings> load_settings(const System& system);

}  // namespace peerpath::cli
