// SPDX-License-Identifier: GPL-2.0-or-later
// T8: how fast A writes B's memory, by copy engine and by a kernel's stores; the better counts.
// What was written while it was measured is verified: dropped writes are fast.
#include "gpu/kernels/parameters.hpp"
#include "gpu/pair_tests/buffer.hpp"

#include <algorithm>

namespace peerpath::gpu {
namespace {

constexpr unsigned most_copies = 64;
constexpr unsigned copies_at_once = 4;

/// Bytes per second of `write`, which enqueues one write of all bytes: after one to warm up, which
/// the owner's poison then covers, until the time is over.
template <class Write>
CudaResult<double> rate_of(const Pair& pair, const Buffer& to, std::uint64_t poison,
                           const Write& write) {
  using Clock = std::chrono::steady_clock;
  const auto& stream = pair.source.stream;
  auto done = write();
  if (done) done = stream.synchronize();
  if (done) done = to.poison(poison);
  const auto end = Clock::now() + pair.extent.measured / 2;
  double seconds = 0;
  unsigned copies = 0;
  while (done && (copies == 0 || (copies < most_copies && Clock::now() < end))) {
    done = stream.begin_timing();
    for (unsigned i = 0; done && i < copies_at_once; ++i)
      done = write();
    if (done) done = stream.end_timing();
    if (!done) break;
    auto took = stream.elapsed();
    if (!took) return took;
    seconds += *took;
    copies += copies_at_once;
    pair.beat();
  }
  if (!done) return tl::make_unexpected(done.error());
  return seconds > 0 ? double(to.bytes()) * copies / seconds : 0;
}

/// Measures into `best`, and verifies with new words. Sets a verdict that's worse than passed.
template <class Write>
CudaResult<> measure(Pair& pair, const Buffer& from, const Buffer& to, TestResult& result,
                     const Write& write) {
  if (result.outcome != Outcome::not_run && result.outcome != Outcome::passed) return {};
  const auto what = pair.next_fill(Test::bandwidth);
  if (auto done = from.fill(what); !done) return done;
  const auto rate = rate_of(pair, to, what.poison, [&] { return write(what); });
  if (!rate) return tl::make_unexpected(rate.error());
  result.bytes_per_second = std::max(result.bytes_per_second, *rate);
  const auto reads = to.read(what, &pair.source, pair);
  if (!reads) return tl::make_unexpected(reads.error());
  judge(*reads, result);
  if (result.outcome == Outcome::passed && *rate <= 0) {
    result.outcome = Outcome::inconclusive;
    result.detail = "by the driver's clock it took no time";
  }
  return {};
}

}  // namespace

CudaResult<> bandwidth(Pair& pair, std::uint64_t /*bytes*/, const Report& report) {
  const auto bytes = pair.extent.measured_bytes;
  const auto& a = pair.source;
  auto from = Buffer::allocate(a, bytes);
  if (!from) return tl::make_unexpected(from.error());
  auto to = Buffer::allocate(pair.destination, bytes);
  if (!to) return tl::make_unexpected(to.error());
  TestResult result;
  result.test = Test::bandwidth;
  result.bytes = bytes;
  auto done = measure(pair, *from, *to, result, [&](const Expectation&) {
    return a.stream.copy(to->address(), from->address(), bytes);
  });
  if (done && a.kernels != nullptr) {
    done = measure(pair, *from, *to, result, [&](const Expectation& what) {
      return a.kernels->launch(a.stream, kernel::fill, a.kernels->full_grid(), 256,
                               kernel::FillParameters{to->address(), to->words(), what});
    });
  }
  if (!done) return done;
  report(std::move(result));
  return {};
}

}  // namespace peerpath::gpu
