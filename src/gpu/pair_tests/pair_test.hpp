// SPDX-License-Identifier: GPL-2.0-or-later
// What a test of an ordered pair gets, and what it says. To add a test: its file, and a line in
// pair_tests.cpp.
#pragma once

#include "gpu/driver/cuda.hpp"
#include "gpu/selftest/result.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace peerpath::gpu {

/// One GPU of the pair, as the tests use it.
struct Side {
  const Context& context;
  const CudaStream& stream;
  const Kernels* kernels;  ///< null where there are none: copies by the host instead
  std::uint8_t index;      ///< the number that goes into the words
};

/// How long and how much.
struct Extent {
  std::uint64_t measured_bytes = 0;
  std::chrono::milliseconds measured{0};
  std::chrono::milliseconds kernel_limit{0};
  bool loopback = false;
};

/// A test's surroundings: A is the source, B the destination.
class Pair {
 public:
  Pair(const Side& source, const Side& destination, std::uint64_t nonce, const Extent& extent,
       std::function<void()> beat)
      : source(source),
        destination(destination),
        extent(extent),
        nonce_(nonce),
        beat_(std::move(beat)) {}

  const Side& source;
  const Side& destination;
  const Extent& extent;

  /// A step is done.
  void beat() const { beat_(); }
  /// What the next fill writes: no two have the same words, until 256 fills of one test.
  [[nodiscard]] Expectation next_fill(Test test);

 private:
  std::uint64_t nonce_;
  std::function<void()> beat_;
  std::uint8_t iterations_[16] = {};
};

using Report = std::function<void(TestResult)>;

/// Whose access to the other's memory a test needs.
enum class Access { none, source, destination, both };

struct PairTest {
  Test test;
  bool has_sizes;  ///< done in each size, twice in the same memory
  Access access;   ///< ACCESS_SUPPORTED; without it the test is unsupported
  bool needs_kernels;
  bool needs_atomics;  ///< NATIVE_ATOMIC_SUPPORTED
  /// Says the results through `report`, in their order.
  CudaResult<> (*run)(Pair& pair, std::uint64_t bytes, const Report& report);
};

[[nodiscard]] const PairTest& pair_test(Test test);

// One file each.
[[nodiscard]] CudaResult<> staged_copy(Pair& pair, std::uint64_t bytes, const Report& report);
[[nodiscard]] CudaResult<> staged_with_access(Pair& pair, std::uint64_t bytes,
                                              const Report& report);
[[nodiscard]] CudaResult<> ce_write(Pair& pair, std::uint64_t bytes, const Report& report);
[[nodiscard]] CudaResult<> ce_read(Pair& pair, std::uint64_t bytes, const Report& report);
[[nodiscard]] CudaResult<> sm_store(Pair& pair, std::uint64_t bytes, const Report& report);
[[nodiscard]] CudaResult<> sm_load(Pair& pair, std::uint64_t bytes, const Report& report);
[[nodiscard]] CudaResult<> ping_pong(Pair& pair, std::uint64_t bytes, const Report& report);
[[nodiscard]] CudaResult<> atomics(Pair& pair, std::uint64_t bytes, const Report& report);
[[nodiscard]] CudaResult<> concurrent(Pair& pair, std::uint64_t bytes, const Report& report);
[[nodiscard]] CudaResult<> bandwidth(Pair& pair, std::uint64_t bytes, const Report& report);
[[nodiscard]] CudaResult<> latency(Pair& pair, std::uint64_t bytes, const Report& report);

}  // namespace peerpath::gpu
