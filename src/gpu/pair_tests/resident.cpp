// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/pair_tests/resident.hpp"

#include <thread>

namespace peerpath::gpu {

CudaResult<bool> both_end(const Pair& pair) {
  using Clock = std::chrono::steady_clock;
  using namespace std::chrono_literals;
  const auto deadline = Clock::now() + pair.extent.kernel_limit + 1s;
  auto next_beat = Clock::now();
  for (;;) {
    auto first = pair.source.stream.is_done();
    if (!first) return first;
    auto second = pair.destination.stream.is_done();
    if (!second) return second;
    if (*first && *second) return true;
    const auto now = Clock::now();
    if (now > deadline) return false;
    if (now > next_beat) {
      pair.beat();
      next_beat = now + 100ms;
    }
    std::this_thread::sleep_for(200us);
  }
}

tl::unexpected<CudaError> outlived_its_limit() {
  return tl::make_unexpected(
      CudaError{cuda::launch_timeout, "cuStreamQuery", "a kernel outlived its own limit"});
}

}  // namespace peerpath::gpu
