// SPDX-License-Identifier: GPL-2.0-or-later
// T5: a resident kernel on each GPU; they answer each other's flags with release and acquire, and
// look whether the word that was stored before the flag is there, too.
#include "gpu/kernels/parameters.hpp"
#include "gpu/pair_tests/buffer.hpp"
#include "gpu/pair_tests/resident.hpp"

#include <fmt/format.h>

namespace peerpath::gpu {
namespace {

/// A GPU that runs two contexts gives each a time slice of milliseconds, and a round takes two.
std::uint64_t rounds_of(const Pair& pair) {
  return &pair.source.context != &pair.destination.context && pair.extent.loopback ? 50 : 1000;
}
constexpr std::uint64_t cell_bytes = 16;  ///< flag and word

CudaResult<> launch(const Side& side, const Buffer& mine, const Buffer& theirs, bool is_first,
                    const Expectation& what, const Pair& pair, cuda::Address result) {
  const kernel::PingPongParameters parameters{
      mine.address(),
      theirs.address(),
      rounds_of(pair),
      static_cast<std::uint64_t>(std::chrono::nanoseconds(pair.extent.kernel_limit).count()),
      what.nonce,
      what.stream,
      is_first ? 1U : 0U,
      result};
  return side.kernels->launch(side.stream, kernel::ping_pong, 1, 1, parameters);
}

/// Empty, lest what an earlier test left there pass for this one's.
CudaResult<DeviceMemory> allocate_result(const Side& side) {
  const kernel::PingPongResult none{};
  auto memory = DeviceMemory::allocate(side.context, sizeof(none));
  if (!memory) return memory;
  const auto done = side.context.to_device(memory->address(), std::as_bytes(std::span(&none, 1)));
  if (!done) return tl::make_unexpected(done.error());
  return memory;
}

CudaResult<kernel::PingPongResult> result_of(const Side& side, const DeviceMemory& memory) {
  kernel::PingPongResult result{};
  auto done = side.context.to_host(std::as_writable_bytes(std::span(&result, 1)), memory.address());
  if (!done) return tl::make_unexpected(done.error());
  return result;
}

void judge(const kernel::PingPongResult& a, const kernel::PingPongResult& b, std::uint64_t rounds,
           TestResult& result) {
  result.outcome = Outcome::passed;
  if (a.finished == 1 && b.finished == 1)
    result.nanoseconds = double(a.elapsed_ns) / double(rounds);
  if (const auto wrong = a.wrong_words + b.wrong_words; wrong != 0) {
    result.outcome = Outcome::corrupt;
    result.signature = Signature::lost_flag;
    result.bad_words = wrong;
    result.detail = fmt::format("{} flags came before the word that was stored first", wrong);
  } else if (a.finished != 1 || b.finished != 1 || a.rounds_done != rounds ||
             b.rounds_done != rounds) {
    result.outcome = Outcome::hang;
    result.signature = Signature::lost_flag;
    result.detail =
        fmt::format("a flag never came: the source got {} of {} answers, the destination {} flags",
                    a.rounds_done, rounds, b.rounds_done);
  }
}

}  // namespace

CudaResult<> ping_pong(Pair& pair, std::uint64_t /*bytes*/, const Report& report) {
  const auto& a = pair.source;
  const auto& b = pair.destination;
  const auto what = pair.next_fill(Test::ping_pong);
  auto of_a = Buffer::allocate(a, cell_bytes);
  if (!of_a) return tl::make_unexpected(of_a.error());
  auto of_b = Buffer::allocate(b, cell_bytes);
  if (!of_b) return tl::make_unexpected(of_b.error());
  auto result_a = allocate_result(a);
  if (!result_a) return tl::make_unexpected(result_a.error());
  auto result_b = allocate_result(b);
  if (!result_b) return tl::make_unexpected(result_b.error());
  auto done = of_a->poison(what.poison);
  if (done) done = of_b->poison(what.poison);
  if (done) done = launch(b, *of_b, *of_a, false, what, pair, result_b->address());
  if (done) done = launch(a, *of_a, *of_b, true, what, pair, result_a->address());
  if (!done) return done;
  const auto ended = both_end(pair);
  if (!ended) return tl::make_unexpected(ended.error());
  TestResult result;
  result.test = Test::ping_pong;
  if (!*ended) {
    result.outcome = Outcome::hang;
    result.detail = "a kernel outlived its own limit";
    report(std::move(result));
    return outlived_its_limit();
  }
  const auto said_a = result_of(a, *result_a);
  if (!said_a) return tl::make_unexpected(said_a.error());
  const auto said_b = result_of(b, *result_b);
  if (!said_b) return tl::make_unexpected(said_b.error());
  judge(*said_a, *said_b, rounds_of(pair), result);
  report(std::move(result));
  return {};
}

}  // namespace peerpath::gpu
