// SPDX-License-Identifier: GPL-2.0-or-later
// T6: kernels of both GPUs add to, compare and swap, and set bits of words in B's memory.
#include "gpu/kernels/parameters.hpp"
#include "gpu/pair_tests/resident.hpp"

#include <fmt/format.h>

#include <array>

namespace peerpath::gpu {
namespace {

constexpr std::uint64_t times = 256;
constexpr std::uint64_t expected_count = times * 2 * kernel::atomics_block;
using Counters = std::array<std::uint64_t, 3>;

void judge(const Counters& counters, TestResult& result) {
  const Counters expected{expected_count, expected_count, 3};
  result.outcome = Outcome::passed;
  if (counters == expected) return;
  result.outcome = Outcome::corrupt;
  result.signature = Signature::lost_atomic;
  for (std::size_t i = counters.size(); i-- > 0;) {
    if (counters[i] == expected[i]) continue;
    if (result.bad_words++ == 0) result.last_bad = i * 8;
    result.first_bad = i * 8;
  }
  result.detail =
      fmt::format("additions {} of {}, compare and swap {} of {}, bits {:#x} of 0x3", counters[0],
                  expected_count, counters[1], expected_count, counters[2]);
}

CudaResult<> launch(const Side& side, const Pair& pair, cuda::Address counters, unsigned number) {
  const std::chrono::nanoseconds limit = pair.extent.kernel_limit;
  return side.kernels->launch(
      side.stream, kernel::atomics, 1, kernel::atomics_block,
      kernel::AtomicsParameters{counters, times, static_cast<std::uint64_t>(limit.count()), number,
                                0});
}

}  // namespace

CudaResult<> atomics(Pair& pair, std::uint64_t /*bytes*/, const Report& report) {
  const auto& b = pair.destination;
  Counters counters{};
  auto memory = DeviceMemory::allocate(b.context, sizeof(counters));
  if (!memory) return tl::make_unexpected(memory.error());
  auto done = b.context.to_device(memory->address(), std::as_bytes(std::span(counters)));
  if (done) done = launch(pair.source, pair, memory->address(), 0);
  if (done) done = launch(b, pair, memory->address(), 1);
  if (!done) return done;
  const auto ended = both_end(pair);
  if (!ended) return tl::make_unexpected(ended.error());
  TestResult result;
  result.test = Test::atomics;
  result.bytes = sizeof(counters);
  if (*ended) {
    done = b.context.to_host(std::as_writable_bytes(std::span(counters)), memory->address());
    if (!done) return done;
    judge(counters, result);
  } else {
    result.outcome = Outcome::hang;
    result.detail = "a kernel didn't end";
    report(std::move(result));
    return outlived_its_limit();
  }
  report(std::move(result));
  return {};
}

}  // namespace peerpath::gpu
