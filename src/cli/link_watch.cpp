// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/link_watch.hpp"

#include "cli/link_graph.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::cli {

LinkWatch::LinkWatch(const System& system, const check::Facts& facts,
                     std::chrono::milliseconds pause)
    : system_(system), facts_(facts), pause_(pause) {}

void LinkWatch::look() {
  const auto now = std::chrono::steady_clock::now();
  if (!facts_.tree || now < next_) return;
  next_ = now + pause_;
  for (const auto& [bdf, node] : facts_.tree->nodes) {
    if (!has_link_above(*facts_.tree, node)) continue;
    const auto link = probe::read_pci_link(system_, bdf);
    if (!link) continue;
    auto& seen = seen_[bdf];
    seen.speed = std::max(seen.speed, link->speed);
    seen.width = std::max(seen.width, link->width);
  }
}

std::vector<std::string> LinkWatch::slow_links() const {
  std::vector<std::string> lines;
  for (const auto& [bdf, seen] : seen_) {
    const auto best = best_link(*facts_.tree, facts_.tree->nodes.at(bdf));
    const bool is_known = seen.speed > 0 && seen.width > 0;
    const bool is_slow = seen.speed < best.max_speed || seen.width < best.max_width;
    if (!is_known || !is_slow) continue;
    lines.push_back(fmt::format(
        "the link of {} was at {:g} GT/s x{} under load, and both its ends can do {:g} GT/s x{}",
        bdf, seen.speed, seen.width, best.max_speed, best.max_width));
  }
  return lines;
}

}  // namespace peerpath::cli
