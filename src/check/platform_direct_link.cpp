// SPDX-License-Identifier: GPL-2.0-or-later
// Where peers don't meet on PCI Express, passthrough isn't what they need.
#include "base/text.hpp"
#include "check/checks.hpp"
#include "check/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace peerpath::check {
namespace {

constexpr Record record{
    .id = "platform.direct-link",
    .title = "GPUs linked without PCI Express",
    .message_id = "005695b24d2249e1ab1a34a7c5d01e73",
    .meaning =
        "Says whether the GPUs reach each other by NVLink, so that passthrough isn't needed for "
        "their peer access. It's good where the driver says so of every pair. It doesn't apply "
        "where a pair has PCI Express alone, where the driver isn't asked, or on NVIDIA's Grace "
        "and GB10 platforms, whose GPUs are linked to the processor coherently and for which "
        "NVIDIA doesn't ask for passthrough. It never excuses another finding.",
    .causes = "Unknown because the devices can't be listed.",
    .remedy = "Mend what can't be read, then run 'peerpath verify' again.",
    .since = "0.1.0",
};

/// GH200 (two sizes) and GB200, by lists of NVIDIA's device ids in public inventory tools; others
/// are known by the firmware's name of the machine alone.
constexpr std::array<std::uint16_t, 3> coherent_devices{0x2342, 0x2348, 0x2941};
constexpr std::array<std::string_view, 5> coherent_names{"GH200", "GB200", "GB300", "GB10",
                                                         "Grace"};

bool has_coherent_name(std::string_view text) {
  return std::any_of(coherent_names.begin(), coherent_names.end(), [&](std::string_view name) {
    return text.find(name) != std::string_view::npos;
  });
}

bool is_coherent(const probe::PciDevice& device) {
  const auto& known = coherent_devices;
  return device.vendor == 0x10de &&
         std::find(known.begin(), known.end(), device.device) != known.end();
}

/// What shows that the processor and its GPUs are one coherent platform; nothing otherwise.
std::optional<Evidence> coherent_platform(const Facts& facts) {
  const auto& machine = facts.kernel.machine;
  if (!machine || cmdline::arch_of(*machine) != cmdline::Arch::arm64) return std::nullopt;
  const auto& product = facts.machine.product;
  if (product && has_coherent_name(*product)) {
    return Evidence{"/sys/class/dmi/id/product_name", printable(*product), ""};
  }
  for (const auto& device : *facts.devices) {
    if (!is_coherent(device)) continue;
    return Evidence{fmt::format("/sys/bus/pci/devices/{}/device", device.bdf),
                    fmt::format("{:04x}:{:04x}", device.vendor, device.device), ""};
  }
  return std::nullopt;
}

/// The first pair that the driver doesn't call linked; nothing where all are.
std::optional<std::string> unlinked_pair(const GpuStatus& gpus) {
  for (const auto& from : gpus.gpus) {
    for (const auto& to : gpus.gpus) {
      if (from.bdf == to.bdf) continue;
      const auto peer = gpus.peers.find({from.bdf, to.bdf});
      if (peer == gpus.peers.end() || peer->second.nvlink != "OK") {
        return from.bdf + " to " + to.bdf;
      }
    }
  }
  return std::nullopt;
}

/// A device to be checked that the driver doesn't speak of.
std::optional<std::string> unlisted_device(const Facts& facts) {
  const auto& gpus = facts.gpus->gpus;
  for (const auto& device : *facts.devices) {
    const auto is_it = [&](const GpuStatus::Gpu& gpu) { return gpu.bdf == device.bdf; };
    if (std::none_of(gpus.begin(), gpus.end(), is_it)) return device.bdf;
  }
  return std::nullopt;
}

Finding not_applicable(Evidence evidence, std::string cause) {
  return {.id = std::string(record.id),
          .status = Status::not_applicable,
          .evidence = {std::move(evidence)},
          .cause = std::move(cause)};
}

Finding by_driver(const Facts& facts) {
  const std::string source = "the NVIDIA driver's management interface";
  if (!facts.gpus) {
    return not_applicable({source, facts.gpus.error().text(), "NVLink between all GPUs"},
                          "the driver isn't asked for NVLink: " + facts.gpus.error().text());
  }
  if (facts.gpus->gpus.size() < 2) {
    return not_applicable({source, fmt::format("{} GPU", facts.gpus->gpus.size()), "two GPUs"},
                          "there are no two GPUs to be linked");
  }
  if (const auto device = unlisted_device(facts)) {
    return not_applicable({source, *device + ": not among its GPUs", "all devices to be checked"},
                          *device + " isn't among the driver's GPUs");
  }
  if (const auto pair = unlinked_pair(*facts.gpus)) {
    const auto text = printable(*pair);
    return not_applicable({source, text + ": no NVLink", "NVLink between all GPUs"},
                          fmt::format("{} has no NVLink, so it needs PCI Express", text));
  }
  return {
      .id = std::string(record.id),
      .status = Status::ok,
      .evidence = {{source, "NVLink between all GPUs: their peer access doesn't need passthrough",
                    "NVLink between all GPUs"}}};
}

std::vector<Finding> run(const Facts& facts) {
  if (overall(facts) == Overall::none) return {no_devices(std::string(record.id), facts)};
  if (!facts.devices) {
    const auto error = facts.devices.error().text();
    return {{.id = std::string(record.id),
             .status = Status::unknown,
             .evidence = {{"/sys/bus/pci/devices", error, "devices of " + facts.match_list}},
             .cause = "the PCI devices can't be listed: " + error,
             .remedy = "mend what can't be read, then run 'peerpath verify' again"}};
  }
  if (auto evidence = coherent_platform(facts)) {
    return {not_applicable(std::move(*evidence),
                           "the GPUs are linked to the processor coherently, and NVIDIA doesn't "
                           "ask for passthrough on this platform")};
  }
  return {by_driver(facts)};
}

}  // namespace

const Check platform_direct_link{record, run};

}  // namespace peerpath::check
