// SPDX-License-Identifier: GPL-2.0-or-later
// T4: a kernel of A's loads what B wrote in its own memory. A then says what it got.
#include "gpu/kernels/parameters.hpp"
#include "gpu/pair_tests/buffer.hpp"

namespace peerpath::gpu {

CudaResult<> sm_load(Pair& pair, std::uint64_t bytes, const Report& report) {
  const auto& a = pair.source;
  return transfer_twice(pair, {Test::sm_load, pair.destination, a, false}, bytes, report,
                        [&](const Buffer& from, const Buffer& to, const Expectation&, TestResult&) {
                          auto done = a.kernels->launch(
                              a.stream, kernel::copy, a.kernels->full_grid(), 256,
                              kernel::CopyParameters{to.address(), from.address(), from.words()});
                          return done ? a.stream.synchronize() : done;
                        });
}

}  // namespace peerpath::gpu
