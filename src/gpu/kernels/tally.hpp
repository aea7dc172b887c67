// SPDX-License-Identifier: GPL-2.0-or-later
// What is in a buffer, word by word: the host, the device and the simulated driver judge with the
// same function.
#pragma once

#include "gpu/kernels/words.hpp"

#include <cstdint>

namespace peerpath::gpu {

/// What a word that should be another one turns out to be.
enum class WordKind : std::uint32_t {
  right,
  zero,
  all_ones,
  poison,      ///< never written: the owner's poison is still there
  stale,       ///< of an earlier iteration of the same test and pair
  other_pair,  ///< of another pair, direction or test
  shifted,     ///< of this stream, but of another index
  few_bits,    ///< up to three bits differ
  other,
};
inline constexpr unsigned word_kinds = 9;

/// What a buffer should hold.
struct Expectation {
  std::uint64_t nonce = 0;
  std::uint64_t poison = 0;
  std::uint32_t stream = 0;       ///< Stream::packed
  std::uint32_t first_index = 0;  ///< of the buffer's first word
};

/// Counts of a verified buffer. In device memory it's filled by atomics: begins as `empty_tally`.
struct Tally {
  unsigned long long counts[word_kinds];  ///< by WordKind, of all words looked at
  unsigned long long first_bad;           ///< index of a word, ~0 where all are right
  unsigned long long last_bad;            ///< zero where all are right
  unsigned long long bad_pages;           ///< 4 KiB runs with a wrong word; the verify kernel and
                                          ///< the host both count them
};

inline constexpr unsigned words_per_page = 512;

[[nodiscard]] constexpr Tally empty_tally() {
  return {{}, ~0ULL, 0, 0};
}

PEERPATH_HOST_DEVICE constexpr int bits_set(std::uint64_t word) {
  int count = 0;
  for (; word != 0 && count < 4; word &= word - 1)
    ++count;
  return count;
}

PEERPATH_HOST_DEVICE constexpr WordKind judge_word(std::uint64_t word, std::uint32_t index,
                                                   const Expectation& expected) {
  const std::uint64_t right = word_at(expected.nonce, expected.stream, index);
  if (word == right) return WordKind::right;
  if (word == 0) return WordKind::zero;
  if (word == ~0ULL) return WordKind::all_ones;
  if (word == expected.poison) return WordKind::poison;
  if (bits_set(word ^ right) <= 3) return WordKind::few_bits;
  WordPlace place;
  if (!decode(expected.nonce, word, place)) return WordKind::other;
  const std::uint32_t stream = place.stream.packed();
  if (stream == expected.stream) return WordKind::shifted;
  if ((stream ^ expected.stream) >> 8 == 0) return WordKind::stale;
  return WordKind::other_pair;
}

}  // namespace peerpath::gpu
