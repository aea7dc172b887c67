// SPDX-License-Identifier: GPL-2.0-or-later
// T3: a kernel of A's stores to B's memory, with a system-wide fence at its end.
#include "gpu/kernels/parameters.hpp"
#include "gpu/pair_tests/buffer.hpp"

namespace peerpath::gpu {

CudaResult<> sm_store(Pair& pair, std::uint64_t bytes, const Report& report) {
  const auto& a = pair.source;
  return transfer_twice(pair, {Test::sm_store, a, pair.destination, true}, bytes, report,
                        [&](const Buffer&, const Buffer& to, const Expectation& what, TestResult&) {
                          auto done = a.kernels->launch(
                              a.stream, kernel::fill, a.kernels->full_grid(), 256,
                              kernel::FillParameters{to.address(), to.words(), what});
                          return done ? a.stream.synchronize() : done;
                        });
}

}  // namespace peerpath::gpu
