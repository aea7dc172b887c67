// SPDX-License-Identifier: GPL-2.0-or-later
// Which pairs are tested together. Pure.
#pragma once

#include "gpu/selftest/links.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace peerpath::gpu {

/// Indices of GPUs: from and to, or both ends.
using IndexPair = std::pair<std::size_t, std::size_t>;

/// A measurement of an ordered pair. While it runs, it has its links for itself.
struct Measurement {
  IndexPair pair;
  std::vector<std::size_t> links;
  double seconds = 1;  ///< about how long it takes
};

/// The measurements of these ordered pairs of GPUs, given by BDFs. Each GPU's two directions count
/// as links, too; a pair whose links are unknown takes all of them.
[[nodiscard]] std::vector<Measurement> measurements(const std::vector<std::string>& bdfs,
                                                    const std::vector<IndexPair>& pairs,
                                                    const LinkGraph& graph);

/// Starts a measurement as soon as no running one shares a link with it. Of several, the one first
/// whose busiest link has most left to do.
class MeasureQueue {
 public:
  explicit MeasureQueue(std::vector<Measurement> all);
  /// The index of one that may begin now, and is taken to run.
  [[nodiscard]] std::optional<std::size_t> next();
  void finished(std::size_t index);
  [[nodiscard]] bool is_done() const;
  [[nodiscard]] const Measurement& at(std::size_t index) const { return all_.at(index); }

 private:
  enum class State { waiting, running, done };
  [[nodiscard]] bool is_free(const Measurement& one) const;
  /// Of its links: the seconds of the busiest, then of all.
  [[nodiscard]] std::pair<double, double> most_left(const Measurement& one) const;
  std::vector<Measurement> all_;
  std::vector<State> states_;
  std::vector<double> left_;  ///< seconds, by link, not yet begun
  std::vector<bool> busy_;    ///< by link
};

/// No schedule can be shorter: the seconds of the busiest link.
[[nodiscard]] double least_makespan(const std::vector<Measurement>& all);
/// Seconds that the queue takes where each measurement takes what it says.
[[nodiscard]] double makespan(const std::vector<Measurement>& all);

/// The circle method: rounds of disjoint pairs in which each two meet once.
[[nodiscard]] std::vector<std::vector<IndexPair>> circle_rounds(std::size_t gpus);

/// Ordered pairs that write at the same time: from GPUs below one switch to GPUs below two or more
/// other roots. Empty where no switch feeds so many.
[[nodiscard]] std::vector<std::vector<IndexPair>> fan_outs(const std::vector<std::string>& bdfs,
                                                           const LinkGraph& graph);

}  // namespace peerpath::gpu
