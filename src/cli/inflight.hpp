// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "gpu/selftest/selftest.hpp"
#include "sys/system.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::cli {

inline constexpr std::string_view state_directory = "/var/lib/peerpath";
inline constexpr std::string_view inflight_path = "/var/lib/peerpath/inflight";
inline constexpr std::string_view host_died_path = "/var/lib/peerpath/host-died";

/// A pair that was being tested when the host went down.
struct DeadlyPair {
  std::string source_uuid;
  std::string source_bdf;
  std::string destination_uuid;
  std::string destination_bdf;
  std::string test;  ///< "ce-write"
  std::string boot_id;

  [[nodiscard]] bool is_of(const std::string& first, const std::string& second) const;
};

/// The note of what is being tested, that outlives the host: a test can reset it. Every change is
/// on the disk before it returns. Where a signal ends this process (Ctrl-C, a shutdown that stops
/// the service) the note goes first, for that's no death of the host. What can't be written or read
/// doesn't stop a run; `notes` says so.
class InflightNote {
 public:
  /// Looks for the note of an earlier run. One of another boot tells that the host went down during
  /// these tests: they are remembered in the file of deadly pairs. Without `boot_id` no note can
  /// be told from an older one, and none is kept.
  InflightNote(const System& system, std::optional<std::string> boot_id);
  ~InflightNote();
  InflightNote(const InflightNote&) = delete;
  InflightNote& operator=(const InflightNote&) = delete;

  /// What the host went down by, at earlier runs.
  [[nodiscard]] const std::vector<DeadlyPair>& deadly() const { return deadly_; }
  /// The same for the self-test: those pairs aren't tested.
  [[nodiscard]] std::vector<gpu::SkippedPair> skipped() const;

  /// Notes that these tests begin, instead of what was noted before.
  void begin(const std::vector<gpu::Inflight>& tests);
  /// Nothing is being tested any more. Pairs that the run tested are deadly no longer.
  void end(const gpu::SelftestReport& run);

  /// What kept it from being kept, a line each.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  void recover();
  bool write(std::string_view path, const std::string& content);
  void give_up(const std::string& why);

  const System& system_;
  std::optional<std::string> boot_id_;
  std::vector<DeadlyPair> deadly_;
  std::string written_;  ///< what's in the file now
  bool is_off_ = false;
  bool keeps_older_ = false;  ///< the note of another boot couldn't be remembered elsewhere
  std::vector<std::string> notes_;
};

}  // namespace peerpath::cli
