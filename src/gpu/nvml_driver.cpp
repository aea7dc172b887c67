// SPDX-License-Identifier: GPL-2.0-or-later
#include "gpu/nvml_driver.hpp"

#include "gpu/nvml_query.hpp"

namespace peerpath::gpu {
namespace {

/// Fact: the legend that 'nvidia-smi topo -p2p' prints.
std::string letters_of(nvml::PeerStatus status) {
  switch (status) {
    case nvml::PeerStatus::ok:
      return "OK";
    case nvml::PeerStatus::chipset_not_supported:
      return "CNS";
    case nvml::PeerStatus::gpu_not_supported:
      return "GNS";
    case nvml::PeerStatus::topology_not_supported:
      return "TNS";
    case nvml::PeerStatus::disabled_by_regkey:
      return "DR";
    case nvml::PeerStatus::not_supported:
      return "NS";
    case nvml::PeerStatus::unknown:
      break;
  }
  return "U";
}

std::optional<bool> is_on(NvmlAnswer::Switch state) {
  if (state == NvmlAnswer::Switch::absent) return std::nullopt;
  return state == NvmlAnswer::Switch::on;
}

NvmlPeer peer_of(const NvmlAnswer::Peer& peer) {
  const auto letters = [&](nvml::Capability capability) {
    return letters_of(peer.status[static_cast<unsigned>(capability)]);
  };
  return {letters(nvml::Capability::read), letters(nvml::Capability::write),
          letters(nvml::Capability::nvlink), letters(nvml::Capability::atomics)};
}

}  // namespace

NvmlReport ask_nvml(const NvmlQuery& query) {
  const auto asked = ask_in_child<NvmlAnswer>(query, ask_management_library);
  const auto& answer = asked.answer;
  NvmlReport report;
  report.outcome = answer.outcome;
  report.code = answer.code;
  report.detail = answer.detail;
  report.left_behind = asked.left_behind;
  if (answer.outcome != DriverOutcome::answered) return report;

  for (unsigned i = 0; i < answer.count; ++i) {
    const auto& gpu = answer.gpus[i];
    report.gpus.push_back({gpu.bdf, gpu.memory == 0 ? std::nullopt : std::optional(gpu.memory),
                           is_on(gpu.mig),
                           gpu.processes_known ? std::optional(gpu.processes) : std::nullopt});
    for (unsigned j = 0; j < answer.count; ++j) {
      if (i != j) report.peers[{gpu.bdf, answer.gpus[j].bdf}] = peer_of(answer.peers[i][j]);
    }
  }
  report.confidential_computing = is_on(answer.confidential_computing);
  return report;
}

}  // namespace peerpath::gpu
