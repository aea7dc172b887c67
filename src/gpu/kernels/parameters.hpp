// SPDX-License-Identifier: GPL-2.0-or-later
// The kernels' names and parameters, in their order: for kernels.cu, for those who launch them and
// for the simulated driver. Pointers are device addresses. A grid may have any size.
#pragma once

#include "gpu/kernels/tally.hpp"

#include <cstdint>

namespace peerpath::gpu::kernel {

using Address = unsigned long long;  ///< CUdeviceptr

/// Stores `words` words of the stream at `buffer`, then a system-wide fence. On memory of a peer
/// it's the peer store.
inline constexpr const char* fill = "peerpath_fill";
struct FillParameters {
  Address buffer;
  std::uint64_t words;
  Expectation what;
};

/// Stores the same word everywhere.
inline constexpr const char* poison = "peerpath_poison";
struct PoisonParameters {
  Address buffer;
  std::uint64_t words;
  std::uint64_t value;
};

/// Adds to the tally at `tally` what the words at `buffer` are. A page is counted bad once.
/// Launched with blocks of `verify_block` threads.
inline constexpr const char* verify = "peerpath_verify";
inline constexpr unsigned verify_block = 256;
struct VerifyParameters {
  Address buffer;
  std::uint64_t words;
  Expectation expected;
  Address tally;
};

/// Copies words by loads and stores. With a peer's memory as `from`, it's the peer load.
inline constexpr const char* copy = "peerpath_copy";
struct CopyParameters {
  Address to;
  Address from;
  std::uint64_t words;
};

/// One side of a ping-pong, one thread: for each round r from 1, the first side stores r to
/// `theirs` with release.sys and waits until `mine` is r with acquire.sys; the other side waits
/// first. Beside the flag, at flag + 8, each side stores word_at(nonce, stream, r) before the
/// release, and the waiter compares it after the acquire. Gives up after `limit_ns` of globaltimer.
inline constexpr const char* ping_pong = "peerpath_ping_pong";
struct PingPongParameters {
  Address mine;    ///< 16 bytes of this GPU's own memory: flag and word
  Address theirs;  ///< 16 bytes of the peer's
  std::uint64_t rounds;
  std::uint64_t limit_ns;
  std::uint64_t nonce;
  std::uint32_t stream;
  std::uint32_t is_first;  ///< 0 or 1
  Address result;          ///< PingPongResult, in this GPU's memory
};
struct PingPongResult {
  unsigned long long rounds_done;
  unsigned long long wrong_words;  ///< flag came, the word that was stored before it hadn't
  unsigned long long elapsed_ns;   ///< by globaltimer
  unsigned long long finished;     ///< 1; else it gave up
};

/// Each of `threads` threads adds 1 to the counter `times` times with system scope, and then
/// compare-and-swaps and exchanges are done on the words beside it:
/// counter[0] += threads * times; counter[1] by CAS loop += threads * times; counter[2] |= bit of
/// `side` by atomicOr.
inline constexpr const char* atomics = "peerpath_atomics";
struct AtomicsParameters {
  Address counter;  ///< 24 bytes
  std::uint64_t times;
  std::uint64_t limit_ns;  ///< of globaltimer: then it gives up, and the counters tell
  std::uint32_t side;      ///< 0 or 1
  std::uint32_t reserved;
};
inline constexpr unsigned atomics_block = 64;  ///< threads, one block

/// Follows a chain of offsets from offset 0, one thread: next = chain[offset]. Stops at an offset
/// that is outside of the chain: what came wasn't what is there.
inline constexpr const char* chase = "peerpath_chase";
struct ChaseParameters {
  Address chain;  ///< of std::uint64_t
  std::uint64_t words;
  std::uint64_t hops;
  Address result;  ///< ChaseResult, in this GPU's memory
};
struct ChaseResult {
  unsigned long long last;        ///< where it came to: so that nothing is optimised away
  unsigned long long elapsed_ns;  ///< by globaltimer
};

}  // namespace peerpath::gpu::kernel
