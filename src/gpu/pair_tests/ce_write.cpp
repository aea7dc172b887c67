// SPDX-License-Identifier: GPL-2.0-or-later
// T1: A's copy engine writes B's memory.
#include "gpu/pair_tests/buffer.hpp"

namespace peerpath::gpu {

CudaResult<> ce_write(Pair& pair, std::uint64_t bytes, const Report& report) {
  const auto& stream = pair.source.stream;
  return transfer_twice(pair, {Test::ce_write, pair.source, pair.destination, true}, bytes, report,
                        [&](const Buffer& from, const Buffer& to, const Expectation&, TestResult&) {
                          auto done = stream.copy(to.address(), from.address(), from.bytes());
                          return done ? stream.synchronize() : done;
                        });
}

}  // namespace peerpath::gpu
