// SPDX-License-Identifier: GPL-2.0-or-later
// T2: B's copy engine reads A's memory.
#include "gpu/pair_tests/buffer.hpp"

namespace peerpath::gpu {

CudaResult<> ce_read(Pair& pair, std::uint64_t bytes, const Report& report) {
  const auto& stream = pair.destination.stream;
  return transfer_twice(pair, {Test::ce_read, pair.source, pair.destination, false}, bytes, report,
                        [&](const Buffer& from, const Buffer& to, const Expectation&, TestResult&) {
                          auto done = stream.copy(to.address(), from.address(), from.bytes());
                          return done ? stream.synchronize() : done;
                        });
}

}  // namespace peerpath::gpu
