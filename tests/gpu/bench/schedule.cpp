// SPDX-License-Identifier: GPL-2.0-or-later
// The makespan of the measured stage in virtual time, measurements of a second or about one: the
// bound that the busiest link gives, ours, and one pair at a time. Exits with 1 above 1.25 x the
// bound.
#include "gpu/topologies.hpp"

#include <cstdio>

int main() {
  using namespace peerpath::gpu;
  int status = 0;
  std::printf("%-34s %-7s %5s %6s %6s %6s %10s %10s\n", "topology", "times", "pairs", "bound",
              "ours", "single", "ours/bound", "single/ours");
  for (const auto& topology : topologies()) {
    for (const bool uneven : {false, true}) {
      auto all = topology.all_pairs();
      double single = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        // Between 0.8 and 1.2 s, as workers differ, so that hardly two end at the same instant.
        if (uneven) all[i].seconds = 0.8 + 0.4 * static_cast<double>(i * 7919 % 101) / 100;
        single += all[i].seconds;
      }
      const double bound = least_makespan(all);
      const double ours = makespan(all);
      std::printf("%-34s %-7s %5zu %6.1f %6.1f %6.1f %10.2f %10.2f\n", topology.name.c_str(),
                  uneven ? "uneven" : "equal", all.size(), bound, ours, single, ours / bound,
                  single / ours);
      if (ours > 1.25 * bound) status = 1;
    }
  }
  return status;
}
