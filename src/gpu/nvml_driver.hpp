// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "gpu/asking_process.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace peerpath::gpu {

/// One GPU, as the driver's management library tells it.
struct NvmlGpu {
  std::string bdf;                         ///< "0000:3b:00.0"
  std::optional<std::uint64_t> memory;     ///< bytes; nothing where it has none of its own
  std::optional<bool> mig;                 ///< in force now; nothing where it doesn't know of MIG
  std::optional<unsigned> processes = {};  ///< that compute on it; nothing where that isn't known
};

/// How one GPU may reach another one's memory, in the letters of 'nvidia-smi topo -p2p': OK, CNS,
/// GNS, TNS, DR, NS, U.
struct NvmlPeer {
  std::string read;
  std::string write;
  std::string nvlink;
  std::string atomics;
};

struct NvmlReport {
  DriverOutcome outcome = DriverOutcome::not_asked;
  unsigned code = 0;         ///< nvmlReturn_t, where a call failed
  std::string detail = {};   ///< "nvmlInit_v2: Driver/library version mismatch (18)", …
  bool left_behind = false;  ///< the asking process didn't end on SIGKILL and is still there

  // Only where it answered.
  std::vector<NvmlGpu> gpus = {};
  std::map<std::pair<std::string, std::string>, NvmlPeer> peers = {};  ///< by BDFs, from and to
  std::optional<bool> confidential_computing = {};  ///< nothing where the driver doesn't know of it
};

struct NvmlQuery : LibraryQuery {
  NvmlQuery() : LibraryQuery{"libnvidia-ml.so.1", std::chrono::milliseconds(20'000)} {}
};

/// Loads NVIDIA's management library in a child process and asks for every GPU and every ordered
/// pair of them. This process never loads it.
/// Fact: NVML API reference, nvmlDeviceGetP2PStatus and the others that nvml_abi.hpp names.
[[nodiscard]] NvmlReport ask_nvml(const NvmlQuery& query = {});

}  // namespace peerpath::gpu
