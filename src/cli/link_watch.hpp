// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/facts.hpp"
#include "sys/system.hpp"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace peerpath::cli {

/// What the links to the GPUs do while the self-test is at work: a link is slower while its device
/// idles, so that only one that stays below what both its ends can do under load is badly trained.
class LinkWatch {
 public:
  /// `pause` is the least time between two looks that count. The facts must outlive it.
  LinkWatch(const System& system, const check::Facts& facts,
            std::chrono::milliseconds pause = std::chrono::milliseconds(500));

  /// Looks at every link, unless it did so a moment ago.
  void look();

  /// A line for each link that was never seen at its best; of links that don't tell none.
  [[nodiscard]] std::vector<std::string> slow_links() const;

 private:
  struct Seen {
    double speed = 0;    ///< GT/s, the highest
    unsigned width = 0;  ///< lanes, the most
  };

  const System& system_;
  const check::Facts& facts_;
  std::chrono::milliseconds pause_;
  std::chrono::steady_clock::time_point next_;
  std::map<std::string, Seen> seen_;  ///< by the BDF of the lower end
};

}  // namespace peerpath::cli
