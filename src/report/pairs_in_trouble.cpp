// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/pairs_in_trouble.hpp"

#include "base/text.hpp"
#include "report/selftest_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace peerpath::report {
namespace {

using gpu::PairReport;
using gpu::Verdict;

/// "4 KiB", "8 bytes": the largest unit that comes out whole.
std::string size_text(std::uint64_t bytes) {
  constexpr std::array units{"GiB", "MiB", "KiB"};
  for (std::size_t i = 0; i < units.size(); ++i) {
    const std::uint64_t unit = 1ULL << (30 - 10 * i);
    if (bytes >= unit && bytes % unit == 0) {
      return fmt::format("{} {}", bytes / unit, units.at(i));
    }
  }
  return fmt::format("{} bytes", bytes);
}

auto key(const PairReport& pair) {
  return std::tie(pair.verdict, pair.failed_test, pair.signature, pair.reason);
}

}  // namespace

std::vector<PairGroup> pairs_in_trouble(const gpu::SelftestReport& run) {
  const auto& pairs = run.pairs;
  std::vector<std::size_t> bad;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].verdict != Verdict::passed) bad.push_back(i);
  }
  std::stable_sort(bad.begin(), bad.end(),
                   [&](std::size_t a, std::size_t b) { return key(pairs[a]) < key(pairs[b]); });
  std::vector<PairGroup> groups;
  for (const auto index : bad) {
    if (groups.empty() || key(pairs[groups.back().front()]) != key(pairs[index])) {
      groups.emplace_back();
    }
    groups.back().push_back(index);
  }
  return groups;
}

std::string_view code_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::corruption:
      return "BAD";
    case Verdict::host_died:
      return "DIE";
    case Verdict::hang:
      return "HNG";
    case Verdict::error:
      return "ERR";
    case Verdict::asymmetric:
      return "asy";
    case Verdict::unsupported:
      return "no";
    case Verdict::degraded:
      return "slo";
    case Verdict::inconclusive:
      return "?";
    case Verdict::passed:
      break;
  }
  return "ok";
}

std::string data_words(const PairReport& pair) {
  const auto* deciding = deciding_result(pair);
  if (deciding == nullptr) return "";
  const auto& result = deciding->result;
  std::vector<std::string> parts;
  if (result.bytes > 0) parts.push_back(size_text(result.bytes));
  if (result.reused) parts.emplace_back("memory used again");
  if (deciding->stage != gpu::Stage::alone) parts.emplace_back(name_of(deciding->stage));
  if (result.bad_words > 0) {
    parts.push_back(fmt::format("{} wrong words in {} pages, from {:#x} to {:#x}", result.bad_words,
                                result.bad_pages, result.first_bad, result.last_bad));
  }
  return join(parts, ", ");
}

}  // namespace peerpath::report
