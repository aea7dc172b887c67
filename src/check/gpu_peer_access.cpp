// SPDX-License-Identifier: GPL-2.0-or-later
// What the driver says of each pair of GPUs. It's no proof: it never asks how the IOMMU is set up.
#include "base/text.hpp"
#include "check/checks.hpp"
#include "check/gpu_driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "gpu.peer-access",
    .title = "Peer access by the NVIDIA driver's word",
    .message_id = "50f2512ebb914b408dd1a325ca2e2ede",
    .meaning =
        "Asks the NVIDIA driver, as 'nvidia-smi topo -p2p' does, whether each GPU may read and "
        "write the memory of each other one. The driver judges by chipset, GPU model, topology and "
        "its own settings, and never by the IOMMU: it says OK also where data is lost on the way. "
        "OK is needed, but proves nothing. It doesn't apply without an NVIDIA driver, with fewer "
        "than two GPUs, and in a recorded tree, where no driver can be asked.",
    .causes =
        "CNS: the driver doesn't know the chipset as one that passes peer traffic on. GNS: the "
        "GPUs' model has no peer access, as most GeForce have none over PCIe. TNS: the way between "
        "the two isn't one that the driver uses. DR: a registry key of the driver turned it off. "
        "NS: not supported, for another reason, such as MIG or confidential computing. Asymmetric: "
        "the two directions differ. Unknown: the driver says U, doesn't answer or fails.",
    .remedy =
        "CNS and TNS: put the GPUs below one PCIe switch or root complex, update BIOS and driver. "
        "DR: see gpu.driver-options. NS: see gpu.partitioning. GNS: use NVLink or another model. "
        "Or accept that programs copy by way of the host's memory, which is slower but right.",
    .since = "0.1.0",
};

constexpr const char* source = "nvmlDeviceGetP2PStatus";
constexpr std::size_t most_lines = 16;

struct Meaning {
  std::string_view letters;
  std::string_view cause;
  std::string_view remedy;
};

/// Facts: the legend of 'nvidia-smi topo -p2p', nvml.h nvmlGpuP2PStatus_t, and what leads to each
/// in open-gpu-kernel-modules, src/nvidia/src/kernel/platform/p2p/p2p_caps.c.
constexpr std::array<Meaning, 5> meanings{{
    {"CNS",
     "CNS, chipset not supported: the driver doesn't know this machine's chipset as one that "
     "passes peer traffic on",
     "update the BIOS and the driver, or put the GPUs below one PCIe switch"},
    {"GNS", "GNS, GPU not supported: this model, a GeForce say, or this pair has no peer access",
     "connect the GPUs by NVLink or use a model with peer access, or accept copies by way of the "
     "host's memory"},
    {"TNS", "TNS, topology not supported: the way between the GPUs isn't one that the driver uses",
     "put the GPUs into slots below one PCIe switch or root complex"},
    {"DR", "DR, disabled by a registry key of the driver",
     "see gpu.driver-options: take ForceP2P out of the driver's options, and reboot"},
    {"NS", "NS, not supported for another reason",
     "see gpu.partitioning, and update the driver; or accept copies by way of the host's memory"},
}};

struct Pair {
  std::string from;
  std::string to;
  std::string read = "U";
  std::string write = "U";

  [[nodiscard]] bool says(std::string_view letters) const {
    return read == letters || write == letters;
  }
  [[nodiscard]] bool is_ok() const { return read == "OK" && write == "OK"; }
  [[nodiscard]] bool is_like(const Pair& other) const {
    return read == other.read && write == other.write;
  }
};

Pair pair_of(const GpuStatus& status, const std::string& from, const std::string& to) {
  const auto found = status.peers.find({from, to});
  if (found == status.peers.end()) return {from, to};
  return {from, to, found->second.read, found->second.write};
}

/// The pairs of which one thing has to be said.
struct Group {
  Status status = Status::warn;
  std::string cause;
  std::string remedy;
  std::vector<Pair> pairs = {};
};

/// Letters that aren't in the table are the driver's U, or new.
bool is_unknown(const Pair& pair) {
  const auto known = [](const std::string& letters) {
    return letters == "OK" || std::any_of(meanings.begin(), meanings.end(),
                                          [&](const Meaning& m) { return m.letters == letters; });
  };
  return !known(pair.read) || !known(pair.write);
}

/// Of a pair that isn't OK, or differs from the way back.
Group group_of(const Pair& pair, const Pair& back) {
  if (is_unknown(pair)) {
    return {Status::unknown, "the driver doesn't know whether these GPUs have peer access",
            "see to it that 'nvidia-smi topo -p2p r' tells of each pair, and update the driver"};
  }
  if (!pair.is_like(back)) {
    return {Status::warn, "asymmetric: the two directions between the GPUs differ",
            "update the BIOS and the driver, and don't use peer access between these GPUs"};
  }
  std::vector<std::string> causes;
  std::vector<std::string> remedies;
  for (const auto& meaning : meanings) {
    if (!pair.says(meaning.letters)) continue;
    causes.emplace_back(meaning.cause);
    remedies.emplace_back(meaning.remedy);
  }
  return {Status::warn, join(causes, "; "), join(remedies, "; ")};
}

void add(std::vector<Group>& groups, Group group, const Pair& pair) {
  auto found = std::find_if(groups.begin(), groups.end(),
                            [&](const Group& other) { return other.cause == group.cause; });
  if (found == groups.end()) found = groups.insert(found, std::move(group));
  found->pairs.push_back(pair);
}

/// What this check doesn't see, in every finding: OK is often taken for proof.
Evidence caveat() {
  return {source, "the driver doesn't look at the IOMMU: OK doesn't prove that data arrives intact",
          ""};
}

Finding finding_of(const Group& group, std::size_t all) {
  Finding finding{.id = std::string(record.id), .status = group.status};
  finding.cause = group.cause;
  finding.remedy = group.remedy;
  for (std::size_t i = 0; i < std::min(group.pairs.size(), most_lines); ++i) {
    const auto& pair = group.pairs[i];
    finding.evidence.push_back({source,
                                printable(fmt::format("from {} to {}: read {}, write {}", pair.from,
                                                      pair.to, pair.read, pair.write)),
                                "read OK, write OK"});
  }
  if (group.pairs.size() > most_lines) {
    finding.evidence.push_back(
        {source, fmt::format("and {} more pairs", group.pairs.size() - most_lines), ""});
  }
  finding.evidence.push_back(
      {source, fmt::format("{} of {} ordered pairs", group.pairs.size(), all), ""});
  finding.evidence.push_back(caveat());
  return finding;
}

std::vector<Finding> run(const Facts& facts) {
  const auto asked = asked_gpus(std::string(record.id), facts);
  if (!asked) return {asked.error()};
  std::vector<Group> groups;
  std::size_t all = 0;
  for (const auto& from : asked->gpus) {
    for (const auto& to : asked->gpus) {
      if (from.bdf == to.bdf) continue;
      ++all;
      const auto pair = pair_of(*facts.gpus, from.bdf, to.bdf);
      const auto back = pair_of(*facts.gpus, to.bdf, from.bdf);
      if (!pair.is_ok() || !pair.is_like(back)) add(groups, group_of(pair, back), pair);
    }
  }
  std::vector<Finding> findings;
  for (const auto& group : groups)
    findings.push_back(finding_of(group, all));
  if (findings.empty()) {
    findings.push_back(
        {.id = std::string(record.id),
         .status = Status::ok,
         .evidence = {{source, fmt::format("read OK, write OK for all {} ordered pairs", all),
                       "read OK, write OK"},
                      caveat()}});
  }
  return findings;
}

}  // namespace

std::string why_no_access(const GpuStatus& status, const std::string& from, const std::string& to) {
  const auto pair = pair_of(status, from, to);
  return pair.is_ok() || is_unknown(pair) ? "" : group_of(pair, pair).cause;
}

const Check gpu_peer_access{record, run};

}  // namespace peerpath::check
