// SPDX-License-Identifier: GPL-2.0-or-later
// The words that the tests write: the host, the device and the tests' simulated driver compute them
// with the same functions. From a word that is in the wrong place, `decode` tells where it belongs.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define PEERPATH_HOST_DEVICE __host__ __device__
#else
#define PEERPATH_HOST_DEVICE
#endif

namespace peerpath::gpu {

/// Which fill of which buffer a word belongs to. No two fills of a run have the same one.
struct Stream {
  std::uint8_t source = 0;       ///< index of the GPU that writes, below 64
  std::uint8_t destination = 0;  ///< index of the GPU that owns the memory, below 64
  std::uint8_t test = 0;         ///< number of the test, below 16
  std::uint8_t iteration = 0;

  PEERPATH_HOST_DEVICE constexpr std::uint32_t packed() const {  // 24 bits
    return ((source & 0x3FU) << 18) | ((destination & 0x3FU) << 12) | ((test & 0xFU) << 8) |
           iteration;
  }
  PEERPATH_HOST_DEVICE static constexpr Stream unpacked(std::uint32_t bits) {
    return {static_cast<std::uint8_t>((bits >> 18) & 0x3FU),
            static_cast<std::uint8_t>((bits >> 12) & 0x3FU),
            static_cast<std::uint8_t>((bits >> 8) & 0xFU), static_cast<std::uint8_t>(bits & 0xFFU)};
  }
};

/// A word's place, as the word itself tells it.
struct WordPlace {
  Stream stream;
  std::uint32_t index = 0;  ///< in words of 8 bytes from the start of the buffer
};

constexpr std::uint32_t half_mask = 0x0FFF'FFFFU;  // 28 bits

/// The top byte of this run's words: even, neither that of zeros nor that of all ones. `nonce` is
/// random for each run, so that what an earlier run left doesn't pass for this one's.
PEERPATH_HOST_DEVICE constexpr std::uint64_t data_tag(std::uint64_t nonce) {
  return (nonce % 126 + 1) * 2;
}

PEERPATH_HOST_DEVICE constexpr std::uint32_t feistel_round(std::uint32_t half, std::uint32_t key) {
  std::uint32_t mixed = (half ^ key) * 0x9E37'79B1U;
  mixed ^= mixed >> 15;
  return (mixed * 0x85EB'CA6BU >> 4) & half_mask;
}

PEERPATH_HOST_DEVICE constexpr std::uint32_t round_key(std::uint64_t nonce, unsigned round) {
  return static_cast<std::uint32_t>((nonce >> (round * 11)) ^ (0xA511'E9B3U * (round + 1)));
}

/// The word at this index of a buffer that is filled for the stream. A bijection of stream and
/// index for one nonce: no word comes twice. Never zero, all ones or a poison.
PEERPATH_HOST_DEVICE constexpr std::uint64_t word_at(std::uint64_t nonce, std::uint32_t stream,
                                                     std::uint32_t index) {
  const std::uint64_t plain = (static_cast<std::uint64_t>(stream & 0xFF'FFFFU) << 32) | index;
  auto left = static_cast<std::uint32_t>(plain >> 28) & half_mask;
  auto right = static_cast<std::uint32_t>(plain) & half_mask;
  for (unsigned round = 0; round < 4; ++round) {
    const std::uint32_t next = left ^ feistel_round(right, round_key(nonce, round));
    left = right;
    right = next;
  }
  return (data_tag(nonce) << 56) | (static_cast<std::uint64_t>(left) << 28) | right;
}

/// The inverse of `word_at`. `false` where the word isn't one of this run's.
PEERPATH_HOST_DEVICE constexpr bool decode(std::uint64_t nonce, std::uint64_t word,
                                           WordPlace& place) {
  if (word >> 56 != data_tag(nonce)) return false;
  auto left = static_cast<std::uint32_t>(word >> 28) & half_mask;
  auto right = static_cast<std::uint32_t>(word) & half_mask;
  for (unsigned round = 4; round-- > 0;) {
    const std::uint32_t before = right ^ feistel_round(left, round_key(nonce, round));
    right = left;
    left = before;
  }
  const std::uint64_t plain = (static_cast<std::uint64_t>(left) << 28) | right;
  place.stream = Stream::unpacked(static_cast<std::uint32_t>(plain >> 32));
  place.index = static_cast<std::uint32_t>(plain);
  return true;
}

/// What the owner puts everywhere before a peer writes: another one for each stream, and no word.
PEERPATH_HOST_DEVICE constexpr std::uint64_t poison_of(std::uint64_t nonce, std::uint32_t stream) {
  return ((data_tag(nonce) + 1) << 56) | (word_at(~nonce, stream, 0) & 0x00FF'FFFF'FFFF'FFFFULL);
}

}  // namespace peerpath::gpu
