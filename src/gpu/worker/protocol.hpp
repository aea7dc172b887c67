// SPDX-License-Identifier: GPL-2.0-or-later
// What the parent and peerpath-p2p-worker say to each other: lines of fields with tabs between, on
// the worker's standard input and output. Nothing of it is an interface for others.
//
//   parent: the job, a line a field, then `run`
//   worker: `gpu`, `peer` and `driver` lines (job `list`), or for each test
//             `begin`   and waits for `go` or `skip`: the parent first notes what may take the host
//             down `beat`    after each step, so that silence means a hang `result`
//           `note TEXT` for what goes into the report as it is
//           `done N` after N lines `gpu`, `peer` and `result`; then it exits with 0
//           `failed CODE CALL TEXT` where it can't go on; exits with 1
#pragma once

#include "base/result.hpp"
#include "gpu/selftest/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace peerpath::gpu {

/// What a worker is to do.
struct Job {
  enum class Kind { list, pair };

  Kind kind = Kind::list;
  std::uint64_t nonce = 0;
  Gpu first;                     ///< by ordinal, and the UUID must be that one
  Gpu second;                    ///< the same as the first for a loopback
  std::uint8_t first_index = 0;  ///< the number that goes into the words, below 64
  std::uint8_t second_index = 0;
  bool both_directions = true;  ///< second to first, too, after each test in this direction
  bool loopback = false;
  std::vector<Test> tests;            ///< in this order
  std::vector<std::uint64_t> sizes;   ///< bytes, of the tests that have a size, multiples of 8
  std::uint64_t measured_bytes = 0;   ///< of one copy of `bandwidth`
  std::uint64_t measured_ms = 0;      ///< how long `bandwidth` and `concurrent` are to go on
  std::uint64_t kernel_limit_ms = 0;  ///< how long a resident kernel may wait for its peer
  std::uint64_t not_ready_ms = 0;     ///< how long cuInit is tried again while it says 802
};

/// Ends with the line `run`.
[[nodiscard]] std::string encode(const Job& job);
/// Reads the lines of one job, without `run`. Errors: malformed, with the line.
[[nodiscard]] Result<Job> decode_job(const std::vector<std::string>& lines);

/// A test that is about to begin, in this direction.
struct Begin {
  std::uint8_t source = 0;  ///< indices, as in the job
  std::uint8_t destination = 0;
  Test test = Test::staged_copy;
  std::uint64_t bytes = 0;
};
struct Beat {};
struct Finished {
  std::uint8_t source = 0;
  std::uint8_t destination = 0;
  TestResult result;
};
struct Note {
  std::string text;
};
struct Done {
  std::uint64_t said = 0;  ///< how many lines that count it has said: one that got lost is noticed
};
struct Failed {
  unsigned code = 0;
  std::string call;
  std::string text;
};
struct DriverVersion {
  int version = 0;
};
using Message =
    std::variant<Begin, Beat, Finished, Note, Done, Failed, DriverVersion, Gpu, PeerAttributes>;

/// Whether `done` counts it.
[[nodiscard]] bool is_counted(const Message& message);

/// One line, with its end. Tabs and control characters in texts become blanks.
[[nodiscard]] std::string encode(const Message& message);
/// Errors: malformed, with the line: a driver that prints to standard output, say.
[[nodiscard]] Result<Message> decode_message(std::string_view line);

}  // namespace peerpath::gpu
