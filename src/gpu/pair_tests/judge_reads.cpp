// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/pair_tests/judge_reads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace peerpath::gpu {
namespace {

/// By WordKind.
constexpr std::array<Signature, word_kinds> signatures{
    Signature::none,          Signature::zeros,    Signature::all_ones,
    Signature::never_written, Signature::stale,    Signature::other_pair,
    Signature::shifted,       Signature::few_bits, Signature::other};

/// The commonest kind of wrong word; of equals the one that is told first.
Signature commonest(const Tally& tally) {
  const auto* const worst = std::max_element(tally.counts + 1, tally.counts + word_kinds);
  return signatures.at(static_cast<std::size_t>(worst - tally.counts));
}

/// Some words were read, and every one is right.
bool is_right(const std::optional<Tally>& tally) {
  return tally && bad_words(*tally) == 0 && tally->counts[0] != 0;
}

/// The owner's read that is worse: kernel and copy may differ where a cache keeps old data.
const Tally& worse_of_owner(const Reads& reads) {
  if (reads.owner_kernel && bad_words(*reads.owner_kernel) > bad_words(reads.owner_copy)) {
    return *reads.owner_kernel;
  }
  return reads.owner_copy;
}

void judge_guards(const GuardTally& guards, TestResult& result) {
  result.outcome = Outcome::corrupt;
  result.signature = Signature::overrun;
  result.bad_words = guards.bad_words;
  result.detail = fmt::format("{} words outside of the data were written, the first at offset {}",
                              guards.bad_words, guards.first_bad);
}

}  // namespace

std::uint64_t bad_words(const Tally& tally) {
  std::uint64_t count = 0;
  for (unsigned kind = 1; kind < word_kinds; ++kind)
    count += tally.counts[kind];
  return count;
}

void add_part(Tally& whole, const Tally& part, std::uint64_t first_word) {
  for (unsigned kind = 0; kind < word_kinds; ++kind)
    whole.counts[kind] += part.counts[kind];
  if (bad_words(part) == 0) return;
  whole.first_bad = std::min<unsigned long long>(whole.first_bad, first_word + part.first_bad);
  whole.last_bad = std::max<unsigned long long>(whole.last_bad, first_word + part.last_bad);
  whole.bad_pages += part.bad_pages;
}

bool is_right_for_owner(const Reads& reads) {
  // The copy counts every word. A kernel that counted fewer proves nothing of the others.
  return is_right(reads.owner_copy) &&
         (!reads.owner_kernel || (is_right(reads.owner_kernel) &&
                                  reads.owner_kernel->counts[0] == reads.owner_copy.counts[0]));
}

void judge(const Reads& reads, TestResult& result) {
  result.outcome = Outcome::passed;
  if (is_right_for_owner(reads)) {
    if (reads.guards.bad_words != 0) judge_guards(reads.guards, result);
    return;
  }
  const Tally& worse = worse_of_owner(reads);
  if (bad_words(worse) == 0) {  // a tally that counted too little
    result.outcome = Outcome::inconclusive;
    result.detail = "the data could not be verified: a read of it didn't count all words";
    return;
  }
  const bool is_mirror = is_right(reads.window_copy) || is_right(reads.window_kernel);
  result.outcome = Outcome::corrupt;
  result.signature = is_mirror ? Signature::mirror : commonest(worse);
  result.bad_words = bad_words(worse);
  result.first_bad = worse.first_bad * 8;
  result.last_bad = worse.last_bad * 8;
  result.bad_pages = worse.bad_pages;
  result.detail = fmt::format("{} of {} words are wrong in the owner's memory{}", result.bad_words,
                              result.bad_words + worse.counts[0],
                              is_mirror ? ", and right as the peer reads them" : "");
}

}  // namespace peerpath::gpu
