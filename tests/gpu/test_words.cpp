// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/kernels/tally.hpp"
#include "gpu/kernels/words.hpp"
#include "support/catch.hpp"

#include <array>
#include <set>

using namespace peerpath::gpu;

namespace {

constexpr std::array<std::uint64_t, 4> nonces = {0, 1, 0x0123'4567'89AB'CDEF, ~0ULL};

constexpr std::uint32_t stream_of(unsigned source, unsigned destination, unsigned test,
                                  unsigned iteration) {
  return Stream{static_cast<std::uint8_t>(source), static_cast<std::uint8_t>(destination),
                static_cast<std::uint8_t>(test), static_cast<std::uint8_t>(iteration)}
      .packed();
}

const std::array<std::uint32_t, 6> streams = {0,
                                              stream_of(0, 1, 1, 0),
                                              stream_of(0, 1, 1, 1),
                                              stream_of(1, 0, 1, 0),
                                              stream_of(63, 63, 15, 255),
                                              stream_of(5, 9, 10, 7)};

constexpr std::array<std::uint32_t, 8> indexes = {
    0, 1, 511, 512, 1U << 23, 0x0FFF'FFFFU, 0x1000'0000U, ~0U};

}  // namespace

TEST_CASE("words: any place → decode gives it back") {
  for (const auto nonce : nonces) {
    for (const auto stream : streams) {
      for (const auto index : indexes) {
        WordPlace place;
        REQUIRE(decode(nonce, word_at(nonce, stream, index), place));
        CHECK(place.stream.packed() == stream);
        CHECK(place.index == index);
      }
    }
  }
}

TEST_CASE("words: many places → no word twice, none is zeros, all ones or a poison") {
  for (const auto nonce : nonces) {
    std::set<std::uint64_t> poisons;
    for (const auto stream : streams)
      poisons.insert(poison_of(nonce, stream));
    CHECK(poisons.size() == streams.size());
    std::set<std::uint64_t> words;
    std::size_t wrong = 0;
    for (const auto stream : streams) {
      for (std::uint32_t index = 0; index < 4096; ++index) {
        const auto word = word_at(nonce, stream, index);
        if (word == 0 || word == ~0ULL || poisons.count(word) != 0) ++wrong;
        words.insert(word);
      }
    }
    CHECK(wrong == 0);
    CHECK(words.size() == streams.size() * 4096);
  }
}

TEST_CASE("words: a poison or another run's word → decode refuses it") {
  WordPlace place;
  for (const auto nonce : nonces) {
    for (const auto stream : streams)
      CHECK_FALSE(decode(nonce, poison_of(nonce, stream), place));
    CHECK_FALSE(decode(nonce, word_at(nonce + 1, 0, 0), place));
  }
}

TEST_CASE("words: what a wrong word is → each kind is told") {
  constexpr std::uint64_t nonce = 0x0123'4567'89AB'CDEF;
  const auto stream = stream_of(2, 3, 1, 1);
  const Expectation expected{nonce, poison_of(nonce, stream), stream, 0};
  const auto kind = [&](std::uint64_t word) { return judge_word(word, 7, expected); };
  const auto right = word_at(nonce, stream, 7);

  CHECK(kind(right) == WordKind::right);
  CHECK(kind(0) == WordKind::zero);
  CHECK(kind(~0ULL) == WordKind::all_ones);
  CHECK(kind(expected.poison) == WordKind::poison);
  CHECK(kind(word_at(nonce, stream_of(2, 3, 1, 0), 7)) == WordKind::stale);
  CHECK(kind(word_at(nonce, stream_of(2, 4, 1, 1), 7)) == WordKind::other_pair);
  CHECK(kind(word_at(nonce, stream_of(3, 2, 1, 1), 7)) == WordKind::other_pair);
  CHECK(kind(word_at(nonce, stream_of(2, 3, 2, 1), 7)) == WordKind::other_pair);
  CHECK(kind(word_at(nonce, stream, 8)) == WordKind::shifted);
  CHECK(kind(right ^ 1) == WordKind::few_bits);
  CHECK(kind(right ^ 0x8000'0100'0000'0001ULL) == WordKind::few_bits);
  CHECK(kind(word_at(nonce + 1, stream, 7)) == WordKind::other);
}
