// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/selftest_report.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace peerpath::report {
namespace {

using check::Status;
using gpu::Depth;
using gpu::RunOutcome;
using gpu::Signature;
using gpu::Verdict;

struct Class {
  Verdict verdict;
  Status severity;
  std::string_view id;
};

/// The worst first.
constexpr std::array classes{
    Class{Verdict::corruption, Status::fail, "p2p.corruption"},
    Class{Verdict::host_died, Status::fail, "p2p.host-died"},
    Class{Verdict::hang, Status::fail, "p2p.hang"},
    Class{Verdict::error, Status::fail, "p2p.error"},
    Class{Verdict::asymmetric, Status::warn, "p2p.asymmetric"},
    Class{Verdict::unsupported, Status::warn, "p2p.unsupported"},
    Class{Verdict::degraded, Status::warn, "p2p.degraded"},
    Class{Verdict::inconclusive, Status::unknown, "p2p.inconclusive"},
    Class{Verdict::passed, Status::ok, ""},
};

const Class& class_of(Verdict verdict) {
  return *std::find_if(classes.begin(), classes.end(),
                       [&](const Class& candidate) { return candidate.verdict == verdict; });
}

struct Remedy {
  Verdict verdict;
  Signature signature;  ///< `none`: for all others
  std::string_view text;
};

/// By what was seen to help in public reports of these signatures.
constexpr std::array remedies{
    Remedy{Verdict::corruption, Signature::mirror,
           "the writer sees its data and the owner doesn't: in a virtual machine take the GPUs' "
           "x-nv-gpudirect-clique away, on bare metal update the driver; until then keep programs "
           "from peer access (NCCL_P2P_DISABLE=1)"},
    Remedy{Verdict::corruption, Signature::few_bits,
           "suspect the hardware: look for ECC and link errors (nvidia-smi -q, the kernel log), "
           "seat the cards and cables anew, and don't use these GPUs together until then"},
    Remedy{Verdict::corruption, Signature::overrun,
           "a peer's write goes beyond its buffer: update the driver, and keep programs from peer "
           "access until then (NCCL_P2P_DISABLE=1)"},
    Remedy{Verdict::corruption, Signature::lost_atomic,
           "keep programs from atomic operations on peers' memory, and update BIOS and driver"},
    Remedy{Verdict::corruption, Signature::lost_flag,
           "data comes later than the flag that announces it: see pcie.acs-redirect of 'peerpath "
           "verify', update BIOS and driver; until then NCCL_P2P_DISABLE=1"},
    Remedy{Verdict::corruption, Signature::none,
           "run 'peerpath verify' and mend what it says of iommu.group-type and "
           "pcie.acs-redirect ('peerpath ensure' sets up passthrough); until then keep programs "
           "from peer access (NCCL_P2P_DISABLE=1)"},
    Remedy{Verdict::host_died, Signature::none,
           "read the firmware's event log and the end of that boot's journal; 'peerpath selftest "
           "--force' tests the pair again"},
    Remedy{
        Verdict::hang, Signature::none,
        "see pcie.acs-redirect and iommu.group-type of 'peerpath verify', and the kernel log for "
        "Xid lines; until then NCCL_P2P_DISABLE=1"},
    Remedy{Verdict::error, Signature::none,
           "look the error up; read the kernel log for 'NVRM:' lines, see pcie.bar-size of "
           "'peerpath verify', and reboot"},
    Remedy{Verdict::asymmetric, Signature::none,
           "see gpu.peer-access and gpu.driver-options of 'peerpath verify', update BIOS and "
           "driver, and don't use peer access between these GPUs"},
    Remedy{Verdict::unsupported, Signature::none,
           "see gpu.peer-access of 'peerpath verify', or accept copies by way of the host's "
           "memory"},
    Remedy{Verdict::degraded, Signature::none,
           "see pcie.acs-redirect and pcie.link of 'peerpath verify'"},
    Remedy{Verdict::inconclusive, Signature::none,
           "run 'peerpath selftest' while nothing else uses these GPUs, with a larger --budget "
           "where time ran out"},
};

constexpr std::array<std::pair<Depth, std::string_view>, 3> depths{
    {{Depth::quick, "quick"}, {Depth::normal, "normal"}, {Depth::deep, "deep"}}};

constexpr std::array<std::pair<RunOutcome, std::string_view>, 4> run_outcomes{
    {{RunOutcome::tested, "tested"},
     {RunOutcome::no_driver, "no-driver"},
     {RunOutcome::too_few_gpus, "too-few-gpus"},
     {RunOutcome::not_listed, "not-listed"}}};

template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  return std::find_if(table.begin(), table.end(),
                      [&](const auto& entry) { return entry.first == value; })
      ->second;
}

template <class Value, std::size_t size>
std::optional<Value> named_in(const std::array<std::pair<Value, std::string_view>, size>& table,
                              std::string_view name) {
  for (const auto& [value, known] : table) {
    if (known == name) return value;
  }
  return std::nullopt;
}

}  // namespace

Status severity_of(Verdict verdict) {
  return class_of(verdict).severity;
}

std::string_view record_id_of(Verdict verdict) {
  return class_of(verdict).id;
}

std::string_view remedy_of(Verdict verdict, Signature signature) {
  for (const auto& remedy : remedies) {
    if (remedy.verdict != verdict) continue;
    if (remedy.signature == signature || remedy.signature == Signature::none) return remedy.text;
  }
  return "";
}

const gpu::StagedResult* deciding_result(const gpu::PairReport& pair) {
  if (!pair.failed_test) return nullptr;
  const gpu::StagedResult* best = nullptr;
  for (const auto& staged : pair.results) {
    const auto& result = staged.result;
    if (result.test != *pair.failed_test || result.outcome == gpu::Outcome::passed) continue;
    if (result.signature == pair.signature) return &staged;
    if (best == nullptr) best = &staged;
  }
  return best;
}

std::string pair_counts(const gpu::SelftestReport& run) {
  std::vector<std::string> parts;
  for (auto known = classes.rbegin(); known != classes.rend(); ++known) {
    const auto count = std::count_if(run.pairs.begin(), run.pairs.end(), [&](const auto& pair) {
      return pair.verdict == known->verdict;
    });
    if (count > 0) parts.push_back(fmt::format("{} {}", count, gpu::name_of(known->verdict)));
  }
  return parts.empty() ? "no pairs" : join(parts, ", ");
}

std::string_view name_of(Depth depth) {
  return name_in(depths, depth);
}
std::optional<Depth> depth_named(std::string_view name) {
  return named_in(depths, name);
}
std::string_view name_of(RunOutcome outcome) {
  return name_in(run_outcomes, outcome);
}
std::optional<RunOutcome> run_outcome_named(std::string_view name) {
  return named_in(run_outcomes, name);
}

}  // namespace peerpath::report
