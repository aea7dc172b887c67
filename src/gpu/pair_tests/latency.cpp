// SPDX-License-Identifier: GPL-2.0-or-later
// T8: a chain of loads by A through B's memory: each tells where the next one is.
#include "gpu/kernels/parameters.hpp"
#include "gpu/pair_tests/pair_test.hpp"

#include <fmt/format.h>

#include <span>
#include <vector>

namespace peerpath::gpu {
namespace {

constexpr std::uint64_t nodes = 4096;
constexpr std::uint64_t node_words = 32;  ///< 256 bytes: no two share a cache line
constexpr std::uint64_t hops = 2048;

/// Node i leads to node i * 5 + 1: all of them in one cycle (the theorem of Hull and Dobell).
std::uint64_t next_of(std::uint64_t node) {
  return (node * 5 + 1) % nodes;
}

std::vector<std::uint64_t> chain() {
  std::vector<std::uint64_t> words(nodes * node_words);
  for (std::uint64_t node = 0; node < nodes; ++node)
    words[node * node_words] = next_of(node) * node_words;
  return words;
}

std::uint64_t end_of_chain() {
  std::uint64_t node = 0;
  for (std::uint64_t hop = 0; hop < hops; ++hop)
    node = next_of(node);
  return node * node_words;
}

}  // namespace

CudaResult<> latency(Pair& pair, std::uint64_t /*bytes*/, const Report& report) {
  const auto& a = pair.source;
  const auto words = chain();
  kernel::ChaseResult chased{~0ULL, 0};
  auto memory = DeviceMemory::allocate(pair.destination.context, words.size() * 8);
  if (!memory) return tl::make_unexpected(memory.error());
  auto said = DeviceMemory::allocate(a.context, sizeof(chased));
  if (!said) return tl::make_unexpected(said.error());
  auto done =
      pair.destination.context.to_device(memory->address(), std::as_bytes(std::span(words)));
  // What an earlier chain left there, which ends at the same word, is no answer to this one.
  if (done) done = a.context.to_device(said->address(), std::as_bytes(std::span(&chased, 1)));
  if (done) {
    done = a.kernels->launch(
        a.stream, kernel::chase, 1, 1,
        kernel::ChaseParameters{memory->address(), words.size(), hops, said->address()});
  }
  if (done) done = a.stream.synchronize();
  if (done) {
    done = a.context.to_host(std::as_writable_bytes(std::span(&chased, 1)), said->address());
  }
  if (!done) return done;
  TestResult result;
  result.test = Test::latency;
  result.bytes = words.size() * 8;
  result.outcome = Outcome::passed;
  result.nanoseconds = double(chased.elapsed_ns) / hops;
  if (chased.last != end_of_chain()) {
    result.outcome = Outcome::corrupt;
    result.signature = Signature::other;
    result.detail =
        fmt::format("the chain of loads ended at word {}, not {}", chased.last, end_of_chain());
  }
  report(std::move(result));
  return {};
}

}  // namespace peerpath::gpu
