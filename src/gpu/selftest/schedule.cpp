// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/selftest/schedule.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace peerpath::gpu {
namespace {

std::size_t links_used(const std::vector<Measurement>& all) {
  std::size_t count = 0;
  for (const auto& one : all) {
    for (const auto link : one.links)
      count = std::max(count, link + 1);
  }
  return count;
}

std::vector<double> load_of_links(const std::vector<Measurement>& all) {
  std::vector<double> load(links_used(all));
  for (const auto& one : all) {
    for (const auto link : one.links)
      load[link] += one.seconds;
  }
  return load;
}

/// For each GPU the number of its group: GPUs at most so far from each other are in one.
std::vector<std::size_t> groups(const std::vector<std::string>& bdfs, const LinkGraph& graph,
                                Nearness farthest) {
  std::vector<std::size_t> group(bdfs.size());
  std::iota(group.begin(), group.end(), 0U);
  for (std::size_t i = 0; i < bdfs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto nearness = graph.path(bdfs[j], bdfs[i]).nearness;
      if (nearness >= Nearness::one_switch && nearness <= farthest) {
        group[i] = group[j];
        break;
      }
    }
  }
  return group;
}

std::vector<std::vector<std::size_t>> members(const std::vector<std::size_t>& group) {
  std::vector<std::vector<std::size_t>> all(group.size());
  for (std::size_t i = 0; i < group.size(); ++i)
    all[group[i]].push_back(i);
  std::erase_if(all, [](const auto& one) { return one.empty(); });
  return all;
}

}  // namespace

std::vector<Measurement> measurements(const std::vector<std::string>& bdfs,
                                      const std::vector<IndexPair>& pairs, const LinkGraph& graph) {
  const std::size_t known = graph.links.size();
  std::vector<Measurement> all;
  for (const auto& pair : pairs) {
    auto links = graph.path(bdfs[pair.first], bdfs[pair.second]).links;
    if (links.empty()) {
      links.resize(known + 2 * bdfs.size());
      std::iota(links.begin(), links.end(), 0U);
    } else {
      links.push_back(known + 2 * pair.first);
      links.push_back(known + 2 * pair.second + 1);
    }
    all.push_back({pair, std::move(links)});
  }
  // Each GPU to its next one, then each to its next but one: such pairs seldom share links, and
  // what comes first is taken first where all else is equal.
  const auto gpus = bdfs.size();
  std::stable_sort(all.begin(), all.end(), [gpus](const auto& a, const auto& b) {
    const auto shift = [gpus](const IndexPair& pair) {
      return (pair.second + gpus - pair.first) % gpus;
    };
    return shift(a.pair) < shift(b.pair);
  });
  return all;
}

MeasureQueue::MeasureQueue(std::vector<Measurement> all)
    : all_(std::move(all)),
      states_(all_.size(), State::waiting),
      left_(load_of_links(all_)),
      busy_(left_.size()) {}

bool MeasureQueue::is_free(const Measurement& one) const {
  return std::none_of(one.links.begin(), one.links.end(),
                      [this](std::size_t link) { return busy_[link]; });
}

std::pair<double, double> MeasureQueue::most_left(const Measurement& one) const {
  double most = 0;
  double sum = 0;
  for (const auto link : one.links) {
    most = std::max(most, left_[link]);
    sum += left_[link];
  }
  return {most, sum};
}

std::optional<std::size_t> MeasureQueue::next() {
  std::optional<std::size_t> best;
  std::pair<double, double> most;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (states_[i] != State::waiting || !is_free(all_[i])) continue;
    const auto left = most_left(all_[i]);
    if (best && left <= most) continue;
    best = i;
    most = left;
  }
  if (!best) return std::nullopt;
  states_[*best] = State::running;
  for (const auto link : all_[*best].links) {
    busy_[link] = true;
    left_[link] -= all_[*best].seconds;
  }
  return best;
}

void MeasureQueue::finished(std::size_t index) {
  if (states_.at(index) != State::running) return;
  states_[index] = State::done;
  for (const auto link : all_[index].links)
    busy_[link] = false;
}

bool MeasureQueue::is_done() const {
  return std::all_of(states_.begin(), states_.end(), [](State s) { return s == State::done; });
}

double least_makespan(const std::vector<Measurement>& all) {
  const auto load = load_of_links(all);
  return load.empty() ? 0 : *std::max_element(load.begin(), load.end());
}

double makespan(const std::vector<Measurement>& all) {
  MeasureQueue queue(all);
  std::vector<std::pair<double, std::size_t>> running;  // end, index
  double now = 0;
  for (;;) {
    while (const auto index = queue.next())
      running.emplace_back(now + queue.at(*index).seconds, *index);
    if (running.empty()) return now;
    const auto first = std::min_element(running.begin(), running.end());
    now = first->first;
    // All that end now, before others begin.
    std::erase_if(running, [&](const auto& one) {
      if (one.first > now) return false;
      queue.finished(one.second);
      return true;
    });
  }
}

std::vector<std::vector<IndexPair>> circle_rounds(std::size_t gpus) {
  if (gpus < 2) return {};
  const std::size_t places = gpus + gpus % 2;  // one more that stands for a pause
  std::vector<std::vector<IndexPair>> rounds(places - 1);
  for (std::size_t round = 0; round + 1 < places; ++round) {
    const auto add = [&](std::size_t a, std::size_t b) {
      if (std::max(a, b) < gpus) rounds[round].emplace_back(std::min(a, b), std::max(a, b));
    };
    add(places - 1, round);
    for (std::size_t i = 1; i < places / 2; ++i)
      add((round + i) % (places - 1), (round + places - 1 - i) % (places - 1));
  }
  return rounds;
}

std::vector<std::vector<IndexPair>> fan_outs(const std::vector<std::string>& bdfs,
                                             const LinkGraph& graph) {
  const auto root_of = groups(bdfs, graph, Nearness::several_switches);
  const auto roots = members(root_of);
  std::vector<std::vector<IndexPair>> all;
  for (const auto& sources : members(groups(bdfs, graph, Nearness::one_switch))) {
    std::vector<std::vector<std::size_t>> others;
    for (const auto& root : roots) {
      if (root_of[root.front()] != root_of[sources.front()]) others.push_back(root);
    }
    if (sources.size() < 2 || others.size() < 2) continue;
    std::vector<IndexPair> together;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto& root = others[i % others.size()];
      together.emplace_back(sources[i], root[i / others.size() % root.size()]);
    }
    all.push_back(std::move(together));
  }
  return all;
}

}  // namespace peerpath::gpu
