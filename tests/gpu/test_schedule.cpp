// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/selftest/schedule.hpp"
#include "support/catch.hpp"
#include "topologies.hpp"

#include <set>

using namespace peerpath::gpu;

TEST_CASE("schedule: three topologies → every pair once, no link shared, near the bound") {
  for (const auto& topology : topologies()) {
    INFO(topology.name);
    const auto all = topology.all_pairs();
    MeasureQueue queue(all);
    std::set<std::size_t> running;
    std::set<IndexPair> seen;
    while (!queue.is_done()) {
      while (const auto index = queue.next()) {
        CHECK(seen.insert(queue.at(*index).pair).second);
        running.insert(*index);
      }
      REQUIRE_FALSE(running.empty());
      std::set<std::size_t> links;
      std::size_t used = 0;
      for (const auto index : running) {
        links.insert(queue.at(index).links.begin(), queue.at(index).links.end());
        used += queue.at(index).links.size();
      }
      REQUIRE(links.size() == used);
      queue.finished(*running.begin());
      running.erase(running.begin());
    }
    CHECK(seen.size() == all.size());
    CHECK(makespan(all) <= 1.25 * least_makespan(all));
    CHECK(makespan(all) >= least_makespan(all));
  }
}

TEST_CASE("schedule: pairs of unknown links → one at a time") {
  const auto bdfs = some_bdfs(4);
  const auto all = measurements(bdfs, {{0, 1}, {2, 3}, {1, 0}}, {});
  CHECK(makespan(all) == 3);
}

TEST_CASE("schedule: circle rounds → disjoint in a round, each two meet once") {
  for (const std::size_t gpus : {2U, 3U, 7U, 8U, 16U}) {
    std::set<IndexPair> met;
    for (const auto& round : circle_rounds(gpus)) {
      std::set<std::size_t> in_round;
      for (const auto& [a, b] : round) {
        CHECK(in_round.insert(a).second);
        CHECK(in_round.insert(b).second);
        CHECK(met.insert({a, b}).second);
      }
    }
    CHECK(met.size() == gpus * (gpus - 1) / 2);
  }
  CHECK(circle_rounds(1).empty());
}

TEST_CASE("schedule: fan-out → one switch to two other roots at least, else none") {
  const auto wide = with_switches("", 16, 4);
  const auto all = fan_outs(wide.bdfs, wide.graph);
  REQUIRE(all.size() == 4);
  for (const auto& together : all) {
    std::set<std::size_t> sources;
    std::set<std::size_t> roots;
    for (const auto& [from, to] : together) {
      sources.insert(from / 4);
      roots.insert(to / 4);
    }
    CHECK(sources.size() == 1);
    CHECK(roots.size() >= 2);
    CHECK(roots.count(*sources.begin()) == 0);
  }
  const auto nvlink = with_nvlink("", 8);
  CHECK(fan_outs(nvlink.bdfs, nvlink.graph).empty());
}
