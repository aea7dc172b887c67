// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/kernels/host_tally.hpp"

namespace peerpath::gpu {

Tally tally_of(std::span<const std::uint64_t> words, const Expectation& expected) {
  Tally tally = empty_tally();
  auto index = expected.first_index;
  std::uint64_t last_bad_page = ~0ULL;
  for (std::uint64_t i = 0; i < words.size(); ++i, ++index) {
    if (words[i] == word_at(expected.nonce, expected.stream, index)) continue;
    ++tally.counts[static_cast<unsigned>(judge_word(words[i], index, expected))];
    if (tally.first_bad == ~0ULL) tally.first_bad = i;
    tally.last_bad = i;
    if (i / words_per_page != last_bad_page) ++tally.bad_pages;
    last_bad_page = i / words_per_page;
  }
  unsigned long long bad = 0;
  for (const auto count : tally.counts)
    bad += count;
  tally.counts[static_cast<unsigned>(WordKind::right)] = words.size() - bad;
  return tally;
}

void fill_words(std::span<std::uint64_t> words, const Expectation& what) {
  auto index = what.first_index;
  for (auto& word : words)
    word = word_at(what.nonce, what.stream, index++);
}

}  // namespace peerpath::gpu
