// SPDX-License-Identifier: GPL-2.0-or-later
// T0: from A to the host, from the host to B: the control. Where it fails, a GPU, the driver or
// this program is at fault, not the way between the two.
#include "gpu/pair_tests/buffer.hpp"

#include <algorithm>
#include <vector>

namespace peerpath::gpu {
namespace {

/// A rate of less says more of the calls than of the links.
constexpr std::uint64_t least_measured = 2U << 20;

/// Does it, and adds how long it took by the events of the side's stream. The copies themselves are
/// synchronous: the stream is idle, and its events are recorded at once.
template <class Copy>
CudaResult<> timed(const Side& side, double& seconds, const Copy& copy) {
  auto done = side.stream.begin_timing();
  if (done) done = copy();
  if (done) done = side.stream.end_timing();
  if (!done) return done;
  const auto took = side.stream.elapsed();
  if (!took) return tl::make_unexpected(took.error());
  seconds += *took;
  return {};
}

CudaResult<> staged(Pair& pair, Test test, std::uint64_t bytes, const Report& report) {
  const auto& a = pair.source;
  const auto& b = pair.destination;
  std::vector<std::byte> host(std::min(bytes, piece_bytes));
  return transfer_twice(
      pair, {test, a, b, false}, bytes, report,
      [&](const Buffer& from, const Buffer& to, const Expectation&, TestResult& result) {
        double seconds = 0;
        CudaResult<> done;
        for (std::uint64_t at = 0; done && at < bytes; at += host.size()) {
          const auto piece =
              std::span(host).first(std::min<std::uint64_t>(host.size(), bytes - at));
          done = timed(a, seconds, [&] { return a.context.to_host(piece, from.address() + at); });
          if (done) {
            done = timed(b, seconds, [&] { return b.context.to_device(to.address() + at, piece); });
          }
        }
        if (bytes >= least_measured && seconds > 0) {
          result.bytes_per_second = static_cast<double>(bytes) / seconds;
        }
        return done;
      });
}

}  // namespace

CudaResult<> staged_copy(Pair& pair, std::uint64_t bytes, const Report& report) {
  return staged(pair, Test::staged_copy, bytes, report);
}

CudaResult<> staged_with_access(Pair& pair, std::uint64_t bytes, const Report& report) {
  return staged(pair, Test::staged_with_access, bytes, report);
}

}  // namespace peerpath::gpu
