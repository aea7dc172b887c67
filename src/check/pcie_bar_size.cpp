// SPDX-License-Identifier: GPL-2.0-or-later
// Peers reach a GPU's memory through a BAR: as much of it as that shows.
#include "check/checks.hpp"
#include "check/devices.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "pcie.bar-size",
    .title = "BAR through which peers reach a GPU's memory",
    .message_id = "0892e17cc7544d9ab4d7be95ef5bf915",
    .meaning =
        "Compares the largest prefetchable 64-bit BAR of a GPU with the memory that its driver "
        "tells of. With a smaller BAR only a part of the memory can be mapped for peers at a time, "
        "and some software gives up peer access altogether. It doesn't apply where the driver "
        "can't be asked for the memory's size.",
    .causes =
        "The firmware gave the GPU a small window: 'Above 4G Decoding' or 'Resizable BAR' is off "
        "in "
        "its setup, or the GPU has no other.",
    .remedy =
        "Turn on 'Above 4G Decoding' and 'Resizable BAR' in the firmware's setup. Some data centre "
        "GPUs need their display mode off to show all of their memory: see the maker's manual.",
    .since = "0.1.0",
};

using probe::PciBar;

/// Null without one.
const PciBar* memory_bar(const probe::PciNode& node) {
  const PciBar* largest = nullptr;
  for (const auto& bar : node.bars) {
    if (!bar.prefetchable || !bar.is_64_bit) continue;
    if (largest == nullptr || bar.size > largest->size) largest = &bar;
  }
  return largest;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30U;
  constexpr std::uint64_t mib = std::uint64_t{1} << 20U;
  if (bytes >= gib) return fmt::format("{:.4g} GiB", static_cast<double>(bytes) / gib);
  return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / mib);
}

std::optional<std::uint64_t> memory_of(const Facts& facts, const std::string& bdf) {
  if (!facts.gpus) return std::nullopt;
  for (const auto& gpu : facts.gpus->gpus) {
    if (gpu.bdf == bdf) return gpu.memory_size;
  }
  return std::nullopt;
}

Evidence bar_evidence(const std::string& bdf, const probe::PciNode* node) {
  const auto source = fmt::format("/sys/bus/pci/devices/{}/resource", bdf);
  const std::string expected = "a prefetchable 64-bit BAR as large as the memory";
  if (node == nullptr) return {source, "the function was not found", expected};
  if (node->bars_error) return {source, node->bars_error->text(), expected};
  const auto* bar = memory_bar(*node);
  if (bar == nullptr) return {source, "no prefetchable 64-bit BAR", expected};
  return {source, fmt::format("BAR {}: {}", bar->number, size_text(bar->size)), expected};
}

Finding judge(const Facts& facts, const probe::PciDevice& device) {
  const auto* node = facts.tree ? facts.tree->find(device.bdf) : nullptr;
  Finding finding{.id = std::string(record.id), .status = Status::ok, .device = device.bdf};
  finding.evidence = {bar_evidence(device.bdf, node)};
  const auto memory = memory_of(facts, device.bdf);
  if (!memory) {
    finding.status = Status::not_applicable;
    finding.cause =
        facts.gpus ? "the driver doesn't tell how much memory it has"
                   : "the driver wasn't asked how much memory it has: " + facts.gpus.error().text();
    return finding;
  }
  finding.evidence.push_back({"NVML", "memory: " + size_text(*memory), ""});
  if (node == nullptr || node->bars_error) {
    finding.status = Status::unknown;
    finding.cause = "the BARs can't be read";
    finding.remedy = "mend what can't be read, then run 'peerpath verify' again";
    return finding;
  }
  const auto* bar = memory_bar(*node);
  if (bar != nullptr && bar->size >= *memory) return finding;
  finding.status = Status::warn;
  finding.cause = "peers can't reach all of its memory at once: the BAR is smaller";
  finding.remedy =
      "turn on 'Above 4G Decoding' and 'Resizable BAR' in the firmware's setup, where the GPU can "
      "do that";
  return finding;
}

std::vector<Finding> run(const Facts& facts) {
  const std::string id(record.id);
  if (!facts.devices) return {unlisted(id, facts.devices.error())};
  if (facts.devices->empty()) return {no_devices(id, facts)};
  std::vector<Finding> findings;
  for (const auto& device : *facts.devices)
    findings.push_back(judge(facts, device));
  return findings;
}

}  // namespace

const Check pcie_bar_size{record, run};

}  // namespace peerpath::check
