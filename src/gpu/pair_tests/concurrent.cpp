// SPDX-License-Identifier: GPL-2.0-or-later
// T7: A writes B's memory for a while, as others do at the same time. The parent sees to it that
// they do. Each round has words of its own and is verified: what came last may have been written
// when the others had ended.
#include "gpu/pair_tests/buffer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::gpu {
namespace {

/// Below the 256 fills that have words of their own.
constexpr unsigned most_rounds = 100;
constexpr unsigned least_rounds = 2;

/// How often a round writes the same. Small buffers are written many times, or the links would be
/// idle most of the time and no two writes meet.
std::uint64_t copies_of(std::uint64_t bytes) {
  constexpr std::uint64_t whole = 64U << 20;
  return std::clamp<std::uint64_t>(whole / bytes, 1, 64);
}

/// Seconds that the copies of a round took.
CudaResult<double> copy_many(const CudaStream& stream, const Buffer& from, const Buffer& to,
                             std::uint64_t bytes) {
  auto done = stream.begin_timing();
  for (std::uint64_t i = 0; done && i < copies_of(bytes); ++i)
    done = stream.copy(to.address(), from.address(), bytes);
  if (done) done = stream.end_timing();
  if (!done) return tl::make_unexpected(done.error());
  return stream.elapsed();
}

}  // namespace

CudaResult<> concurrent(Pair& pair, std::uint64_t /*bytes*/, const Report& report) {
  using Clock = std::chrono::steady_clock;
  const auto bytes = pair.extent.measured_bytes;
  auto from = Buffer::allocate(pair.source, bytes);
  if (!from) return tl::make_unexpected(from.error());
  auto to = Buffer::allocate(pair.destination, bytes);
  if (!to) return tl::make_unexpected(to.error());
  TestResult result;
  result.test = Test::concurrent;
  result.bytes = bytes;
  const auto end = Clock::now() + pair.extent.measured;
  auto what = pair.next_fill(Test::concurrent);
  const auto poison = what.poison;
  auto done = to->poison(poison);
  double seconds = 0;
  unsigned rounds = 0;
  bool is_right = true;
  while (is_right && (rounds < least_rounds || (rounds < most_rounds && Clock::now() < end))) {
    if (rounds != 0) what = pair.next_fill(Test::concurrent);
    what.poison = poison;
    if (done) done = from->fill(what);
    if (!done) return done;
    const auto took = copy_many(pair.source.stream, *from, *to, bytes);
    if (!took) return tl::make_unexpected(took.error());
    seconds += *took;
    ++rounds;
    pair.beat();
    const auto is_whole = to->is_right(what, pair);
    if (!is_whole) return tl::make_unexpected(is_whole.error());
    is_right = *is_whole;
  }
  auto reads = to->read(what, &pair.source, pair);
  if (!reads) return tl::make_unexpected(reads.error());
  if (seconds > 0) {
    result.bytes_per_second = double(bytes) * double(copies_of(bytes)) * rounds / seconds;
  }
  judge(*reads, result);
  if (!is_right && result.outcome == Outcome::passed) {
    // Wrong when the write had ended, right a moment later.
    result.outcome = Outcome::corrupt;
    result.signature = Signature::stale;
    result.detail = fmt::format("round {}: the data came after the write had ended", rounds);
  }
  report(std::move(result));
  return {};
}

}  // namespace peerpath::gpu
