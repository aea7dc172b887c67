// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/finding.hpp"
#include "gpu/selftest/selftest.hpp"
#include "report/verify_report.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::report {

/// A run of the self-test with what the rest of the machine said meanwhile.
struct Selftest {
  gpu::SelftestReport run;
  /// Lines of the kernel log that came while a pair was tested, about its GPUs or a bridge above
  /// them; by the index into `run.pairs`.
  std::map<std::size_t, std::vector<std::string>> faults;
  std::vector<std::string> notes;  ///< about the run itself, a line each
};

/// What 'peerpath selftest' prints.
struct SelftestDocument {
  std::string version;                 ///< of the peerpath that made it
  std::int64_t time = 0;               ///< seconds since 1970, UTC
  std::optional<std::string> release;  ///< of the kernel; nothing where it could not be read
  std::optional<std::string> boot_id;  ///< likewise
  int exit_status = 0;
  Selftest selftest;
};

/// How bad a verdict is, in the terms of findings.
[[nodiscard]] check::Status severity_of(gpu::Verdict verdict);

/// The record of a pair with this verdict, "p2p.corruption"; empty where it passed.
[[nodiscard]] std::string_view record_id_of(gpu::Verdict verdict);

/// What to do about a pair; empty where it passed. From one table, by verdict and signature.
[[nodiscard]] std::string_view remedy_of(gpu::Verdict verdict, gpu::Signature signature);

/// The result that decided about the pair, of the test that failed; nullptr where there is none.
[[nodiscard]] const gpu::StagedResult* deciding_result(const gpu::PairReport& pair);

/// "54 passed, 2 corruption", worst last; "no pairs" where there are none.
[[nodiscard]] std::string pair_counts(const gpu::SelftestReport& run);

/// A depth or an outcome as options and reports have it: "quick", "too-few-gpus".
[[nodiscard]] std::string_view name_of(gpu::Depth depth);
[[nodiscard]] std::optional<gpu::Depth> depth_named(std::string_view name);
[[nodiscard]] std::string_view name_of(gpu::RunOutcome outcome);
[[nodiscard]] std::optional<gpu::RunOutcome> run_outcome_named(std::string_view name);

/// For a person: a heading, the GPUs, matrices of verdict, bandwidth and latency with a row for
/// each writing GPU, and then each pair that didn't pass, the worst first.
[[nodiscard]] std::string selftest_text(const Selftest& selftest, const TextStyle& style);

/// A JSON document with every result, described by schema/selftest.schema.json.
[[nodiscard]] std::string selftest_json(const SelftestDocument& what);

}  // namespace peerpath::report
