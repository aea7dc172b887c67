// SPDX-License-Identifier: GPL-2.0-or-later
// The list of the tests.
#include "gpu/pair_tests/pair_test.hpp"

#include <array>

namespace peerpath::gpu {
namespace {

constexpr std::array<PairTest, tests> all{{
    //                            sizes access kernels atomics
    {Test::staged_copy, true, Access::none, false, false, staged_copy},
    {Test::ce_write, true, Access::source, false, false, ce_write},
    {Test::ce_read, true, Access::destination, false, false, ce_read},
    {Test::sm_store, true, Access::source, true, false, sm_store},
    {Test::sm_load, true, Access::source, true, false, sm_load},
    {Test::ping_pong, false, Access::both, true, false, ping_pong},
    {Test::atomics, false, Access::source, true, true, atomics},
    {Test::concurrent, false, Access::source, false, false, concurrent},
    {Test::bandwidth, false, Access::source, false, false, bandwidth},
    {Test::latency, false, Access::source, true, false, latency},
    {Test::staged_with_access, true, Access::both, false, false, staged_with_access},
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (static_cast<std::size_t>(all[i].test) != i) return false;
  }
  return true;
}
static_assert(is_in_order());

}  // namespace

const PairTest& pair_test(Test test) {
  return all.at(static_cast<std::size_t>(test));
}

Expectation Pair::next_fill(Test test) {
  const auto number = static_cast<std::uint8_t>(test);
  const Stream stream{source.index, destination.index, number, iterations_[number]++};
  return {nonce_, poison_of(nonce_, stream.packed()), stream.packed(), 0};
}

}  // namespace peerpath::gpu
