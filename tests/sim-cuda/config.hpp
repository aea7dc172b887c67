// SPDX-License-Identifier: GPL-2.0-or-later
// The simulated machine, as its file describes it: README.md.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace sim {

struct SimGpu {
  std::string id, bdf, name = "Simulated GPU", uuid;
  std::size_t node = 0;
  std::uint64_t memory = 268'435'456;
  int mode = 0, capability = 90;
};
struct SimLink {
  std::size_t a = 0, b = 0;
  double bytes_per_second = 0, ns = 0;
  bool nvlink = false;
};
struct Knob {
  std::string kind, op;
  int from = -1, to = -1;  ///< indices of GPUs, -1: any
  std::uint64_t min_bytes = 0, max_bytes = ~0ULL;
  bool concurrent = false;
  std::uint64_t after = 0, times = ~0ULL;
  double factor = 10;
  unsigned code = 719;
};
struct Way {
  double bytes_per_second = 1e12, ns = 500;
  bool exists = true, nvlink = false;
};
struct Config {
  std::string path, error;  ///< error is empty where the file is right
  int driver = 12040;
  std::vector<std::string> nodes;
  std::vector<SimGpu> gpus;
  std::vector<SimLink> links;
  std::vector<std::pair<int, int>> no_access, no_atomics;
  std::vector<Knob> knobs;
  unsigned init_code = 0;
  double init_seconds = -1;  ///< from the file's modification time; negative: for ever
  std::time_t modified = 0;
  [[nodiscard]] Way way(int from, int to) const;
};
Config read_config();

}  // namespace sim
