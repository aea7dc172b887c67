// SPDX-License-Identifier: GPL-2.0-or-later
// A GPU's memory that a test writes and verifies, between two guard bands.
#pragma once

#include "gpu/pair_tests/judge_reads.hpp"
#include "gpu/pair_tests/pair_test.hpp"

#include <cstdint>

namespace peerpath::gpu {

class Buffer {
 public:
  /// Bytes: a multiple of 8. `owner` must outlive it.
  [[nodiscard]] static CudaResult<Buffer> allocate(const Side& owner, std::uint64_t bytes);

  [[nodiscard]] cuda::Address address() const { return memory_.address() + front_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t words() const { return bytes_ / 8; }

  /// The owner puts its poison everywhere, the guard bands too.
  [[nodiscard]] CudaResult<> poison(std::uint64_t value) const;
  /// The owner writes the words.
  [[nodiscard]] CudaResult<> fill(const Expectation& what) const;
  /// The reads; through the window of `peer`, which needs access, only where the owner
  /// doesn't see what it should; null for none.
  /// That a window can't be read is no error: what the owner sees is known by then.
  [[nodiscard]] CudaResult<Reads> read(const Expectation& expected, const Side* peer,
                                       const Pair& pair) const;
  /// What the owner sees, without more: by a kernel where there is one, which takes less time.
  [[nodiscard]] CudaResult<bool> is_right(const Expectation& expected, const Pair& pair) const;

 private:
  Buffer(const Side& owner, DeviceMemory memory, std::uint64_t front, std::uint64_t bytes)
      : owner_(&owner), memory_(std::move(memory)), front_(front), bytes_(bytes) {}
  [[nodiscard]] CudaResult<GuardTally> guards(std::uint64_t poison) const;
  [[nodiscard]] CudaResult<Tally> tally_by_owner_copy(const Expectation& expected,
                                                      const Pair& pair) const;
  const Side* owner_;
  DeviceMemory memory_;
  std::uint64_t front_;
  std::uint64_t bytes_;
};

/// A piece of what goes through the host's memory.
inline constexpr std::uint64_t piece_bytes = 4U << 20;

/// Who gives and who receives.
struct Transfer {
  Test test;
  const Side& giver;     ///< owns what is read, and fills it
  const Side& receiver;  ///< owns what is written, and verifies it
  bool by_window;        ///< the giver itself writes, through its window: so may it read there
};
/// What a transfer does; sets the result's rate where it measures one.
using Act = std::function<CudaResult<>(const Buffer& from, const Buffer& to,
                                       const Expectation& what, TestResult& result)>;
/// Poison by the owner, what the test does, the owner's verdict: twice in the same fresh memory, so
/// that what was left of the first time is found.
[[nodiscard]] CudaResult<> transfer_twice(Pair& pair, const Transfer& transfer, std::uint64_t bytes,
                                          const Report& report, const Act& act);

}  // namespace peerpath::gpu
