// SPDX-License-Identifier: GPL-2.0-or-later
// What a test of a pair can come to. The worker says it, the parent judges it, reports print it.
#pragma once

#include "gpu/kernels/tally.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::gpu {

/// The tests of an ordered pair, A to B. The numbers are in the words (`Stream::test`).
enum class Test : std::uint8_t {
  staged_copy = 0,         ///< T0: through the host, without peer access: the control
  ce_write = 1,            ///< T1: A's copy engine writes B's memory
  ce_read = 2,             ///< T2: B's copy engine reads A's memory
  sm_store = 3,            ///< T3: A's kernel stores to B's memory
  sm_load = 4,             ///< T4: A's kernel loads B's memory
  ping_pong = 5,           ///< T5: a resident kernel on each, release and acquire
  atomics = 6,             ///< T6: both add to words in B's memory
  concurrent = 7,          ///< T7: writes while other pairs write, too
  bandwidth = 8,           ///< T8: data is verified again afterwards
  latency = 9,             ///< T8: a chain of loads by A through B's memory
  staged_with_access = 10  ///< T0 once more, now with peer access on
};
inline constexpr unsigned tests = 11;

/// "ce-write", as messages, reports and options have it.
[[nodiscard]] std::string_view name_of(Test test);
[[nodiscard]] std::optional<Test> test_named(std::string_view name);

/// How a test ended.
enum class Outcome : std::uint8_t {
  passed,
  corrupt,       ///< wrong data; `signature` says how
  hang,          ///< no end within the limit
  error,         ///< a call of the driver failed
  unsupported,   ///< not possible between these two; says nothing of the data
  degraded,      ///< right, but slow or implausibly fast
  inconclusive,  ///< the control failed, or the test could not be set up
  not_run,
};
[[nodiscard]] std::string_view name_of(Outcome outcome);
[[nodiscard]] std::optional<Outcome> outcome_named(std::string_view name);

/// What wrong data look like; of several the one with the most words, but a mirror before all.
enum class Signature : std::uint8_t {
  none,
  mirror,         ///< right through the window, wrong at the owner's
  never_written,  ///< the owner's poison
  zeros,
  all_ones,
  stale,        ///< of an earlier iteration
  other_pair,   ///< of another pair, direction or test
  shifted,      ///< at another offset
  few_bits,     ///< up to three bits of a word
  overrun,      ///< a guard band was written
  lost_atomic,  ///< an atomic operation had no effect, or not the right one
  lost_flag,    ///< a flag came without the word before it
  other,
};
[[nodiscard]] std::string_view name_of(Signature signature);
[[nodiscard]] std::optional<Signature> signature_named(std::string_view name);

/// One test, once, in one size.
struct TestResult {
  Test test = Test::staged_copy;
  std::uint64_t bytes = 0;
  bool reused = false;  ///< the second use of the same memory, which finds what is stale
  Outcome outcome = Outcome::not_run;
  Signature signature = Signature::none;
  std::uint64_t bad_words = 0;
  std::uint64_t first_bad = 0;  ///< offset in bytes; only where there are bad words
  std::uint64_t last_bad = 0;
  std::uint64_t bad_pages = 0;  ///< of 4 KiB
  unsigned code = 0;            ///< CUresult, where a call failed
  double bytes_per_second = 0;  ///< zero where it wasn't measured
  double nanoseconds = 0;       ///< of one round trip or one load; zero where it wasn't measured
  std::string detail = {};      ///< one line; for `error` the call and the error's name
};

/// A GPU as CUDA tells it.
struct Gpu {
  int ordinal = 0;   ///< with CUDA_DEVICE_ORDER=PCI_BUS_ID
  std::string uuid;  ///< "GPU-2f0a…"
  std::string bdf;   ///< "0000:3b:00.0"
  std::string name;
  std::uint64_t memory = 0;       ///< bytes
  std::uint64_t free_memory = 0;  ///< bytes, when it was asked
  int compute_capability = 0;     ///< 10 × major + minor
  bool exclusive = false;         ///< compute mode: one context, or one process
  bool prohibited = false;        ///< compute mode: none

  bool operator==(const Gpu&) const = default;
};

/// What the driver says of an ordered pair, without a test.
struct PeerAttributes {
  int source = 0;  ///< ordinals
  int destination = 0;
  bool access = false;  ///< CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, and cuDeviceCanAccessPeer
  bool native_atomics = false;
  int performance_rank = 0;

  bool operator==(const PeerAttributes&) const = default;
};

/// What the driver has: a worker that lists says it.
struct Inventory {
  int driver_version = 0;  ///< 1000 × major + 10 × minor
  std::vector<Gpu> gpus;
  std::vector<PeerAttributes> peers;
};

}  // namespace peerpath::gpu
