// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/kernels/host_tally.hpp"
#include "support/catch.hpp"

#include <vector>

using namespace peerpath::gpu;

namespace {

constexpr std::uint64_t nonce = 0x0123'4567'89AB'CDEF;
const std::uint32_t stream = Stream{2, 3, 1, 1}.packed();
const Expectation expected{nonce, poison_of(nonce, stream), stream, 0};

std::vector<std::uint64_t> filled(std::size_t words) {
  std::vector<std::uint64_t> buffer(words);
  fill_words(buffer, expected);
  return buffer;
}

unsigned long long count_of(const Tally& tally, WordKind kind) {
  return tally.counts[static_cast<unsigned>(kind)];
}

}  // namespace

TEST_CASE("host tally: a filled buffer → all right, nothing bad") {
  const auto tally = tally_of(filled(1500), expected);
  CHECK(count_of(tally, WordKind::right) == 1500);
  CHECK(tally.first_bad == ~0ULL);
  CHECK(tally.last_bad == 0);
  CHECK(tally.bad_pages == 0);
}

TEST_CASE("host tally: no words → an empty tally") {
  const auto tally = tally_of({}, expected);
  CHECK(count_of(tally, WordKind::right) == 0);
  CHECK(tally.first_bad == ~0ULL);
  CHECK(tally.bad_pages == 0);
}

TEST_CASE("host tally: many bad words of one page → the page counts once") {
  auto buffer = filled(1500);
  for (const std::size_t bad : {512U, 513U, 700U, 1023U})
    buffer[bad] = 0;
  const auto tally = tally_of(buffer, expected);
  CHECK(count_of(tally, WordKind::zero) == 4);
  CHECK(count_of(tally, WordKind::right) == 1496);
  CHECK(tally.first_bad == 512);
  CHECK(tally.last_bad == 1023);
  CHECK(tally.bad_pages == 1);
}

TEST_CASE("host tally: bad words on both sides of a page's end, and in a last part → each page") {
  auto buffer = filled(1500);
  for (const std::size_t bad : {511U, 512U, 1499U})
    buffer[bad] = expected.poison;
  const auto tally = tally_of(buffer, expected);
  CHECK(count_of(tally, WordKind::poison) == 3);
  CHECK(tally.first_bad == 511);
  CHECK(tally.last_bad == 1499);
  CHECK(tally.bad_pages == 3);
}

TEST_CASE("host tally: a buffer that begins at another index → it's judged by that") {
  auto later = expected;
  later.first_index = 100;
  std::vector<std::uint64_t> buffer(64);
  fill_words(buffer, later);
  CHECK(buffer[0] == word_at(nonce, stream, 100));
  CHECK(tally_of(buffer, later).bad_pages == 0);
  CHECK(count_of(tally_of(buffer, expected), WordKind::shifted) == 64);
}
