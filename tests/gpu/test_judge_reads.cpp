// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/kernels/host_tally.hpp"
#include "gpu/pair_tests/judge_reads.hpp"
#include "support/catch.hpp"

#include <functional>
#include <vector>

using namespace peerpath::gpu;

namespace {

constexpr std::uint64_t nonce = 0x1234'5678'9abc'def0;
constexpr std::uint32_t stream = Stream{1, 2, 1, 7}.packed();
const Expectation expected{nonce, poison_of(nonce, stream), stream, 0};

using Words = std::vector<std::uint64_t>;

Words right_words() {
  Words words(1024);
  fill_words(words, expected);
  return words;
}

Tally right() {
  return tally_of(right_words(), expected);
}

/// The tally of right words, but for those from 100 to 149.
Tally spoilt(const std::function<std::uint64_t(std::uint64_t word, std::uint32_t index)>& spoil) {
  auto words = right_words();
  for (std::uint32_t i = 100; i < 150; ++i)
    words[i] = spoil(words[i], i);
  return tally_of(words, expected);
}

Tally zeros() {
  return spoilt([](std::uint64_t, std::uint32_t) { return 0; });
}

TestResult judged(const Reads& reads) {
  TestResult result;
  judge(reads, result);
  return result;
}

Reads reads_of(const Tally& owner) {
  Reads reads;
  reads.owner_copy = owner;
  return reads;
}

}  // namespace

TEST_CASE("judge_reads: every word right in each of the owner's reads → passed") {
  auto reads = reads_of(right());
  CHECK(judged(reads).outcome == Outcome::passed);
  reads.owner_kernel = right();
  CHECK(judged(reads).outcome == Outcome::passed);
  CHECK(judged(reads).signature == Signature::none);
}

TEST_CASE("judge_reads: a kind of wrong words → its signature, count and offsets") {
  struct Row {
    Signature signature;
    std::function<std::uint64_t(std::uint64_t, std::uint32_t)> spoil;
  };
  const auto word_of = [](Stream of, std::uint32_t index) {
    return word_at(nonce, of.packed(), index);
  };
  const std::vector<Row> rows{
      {Signature::zeros, [](auto, auto) { return 0; }},
      {Signature::all_ones, [](auto, auto) { return ~0ULL; }},
      {Signature::never_written, [](auto, auto) { return expected.poison; }},
      {Signature::stale,
       [&](auto, auto i) {
         return word_of({1, 2, 1, 6}, i);
       }},
      {Signature::other_pair,
       [&](auto, auto i) {
         return word_of({2, 1, 1, 7}, i);
       }},
      {Signature::shifted,
       [&](auto, auto i) {
         return word_of({1, 2, 1, 7}, i + 1);
       }},
      {Signature::few_bits, [](auto word, auto) { return word ^ 0x21; }},
      {Signature::other, [](auto, auto i) { return 0x0101'0101'0101'0000ULL + i; }},
  };
  for (const auto& row : rows) {
    const auto result = judged(reads_of(spoilt(row.spoil)));
    INFO("signature " << static_cast<int>(row.signature));
    CHECK(result.outcome == Outcome::corrupt);
    CHECK(result.signature == row.signature);
    CHECK(result.bad_words == 50);
    CHECK(result.first_bad == 800);
    CHECK(result.last_bad == 149 * 8);
    CHECK(result.bad_pages == 1);
  }
}

TEST_CASE("judge_reads: owner wrong, window right → mirror, whatever the words are") {
  auto reads = reads_of(zeros());
  reads.window_copy = right();
  CHECK(judged(reads).signature == Signature::mirror);
  reads.window_copy = zeros();
  CHECK(judged(reads).signature == Signature::zeros);
  reads.window_kernel = right();
  CHECK(judged(reads).signature == Signature::mirror);
}

TEST_CASE("judge_reads: a window that counted no words → no mirror") {
  auto reads = reads_of(zeros());
  reads.window_copy = empty_tally();
  CHECK(judged(reads).signature == Signature::zeros);
}

TEST_CASE("judge_reads: one of the owner's reads wrong → corrupt") {
  auto reads = reads_of(right());
  reads.owner_kernel = zeros();
  CHECK(judged(reads).outcome == Outcome::corrupt);
  CHECK(judged(reads).signature == Signature::zeros);
  std::swap(reads.owner_copy, *reads.owner_kernel);
  CHECK(judged(reads).outcome == Outcome::corrupt);
}

TEST_CASE("judge_reads: a written guard band → overrun, with its offset") {
  auto reads = reads_of(right());
  reads.guards = {3, -8};
  const auto result = judged(reads);
  CHECK(result.outcome == Outcome::corrupt);
  CHECK(result.signature == Signature::overrun);
  CHECK(result.bad_words == 3);
  CHECK(result.detail.find("offset -8") != std::string::npos);
}

TEST_CASE("judge_reads: an owner's read that counted nothing → inconclusive, not passed") {
  CHECK(judged(Reads{}).outcome == Outcome::inconclusive);
  auto reads = reads_of(right());
  reads.owner_kernel = empty_tally();
  CHECK(judged(reads).outcome == Outcome::inconclusive);
}

TEST_CASE("judge_reads: a part of a buffer → counted at its place in the whole") {
  auto whole = empty_tally();
  add_part(whole, right(), 0);
  add_part(whole, zeros(), 1024);
  CHECK(whole.first_bad == 1124);
  CHECK(whole.last_bad == 1173);
  CHECK(bad_words(whole) == 50);
  CHECK(whole.counts[0] == 2048 - 50);
}
