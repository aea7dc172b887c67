// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/gpu_driver.hpp"

#include "base/text.hpp"
#include "check/devices.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::check {
namespace {

constexpr const char* library = "libnvidia-ml.so.1";

Finding not_applicable(std::string id, Evidence evidence, std::string cause) {
  return {.id = std::move(id),
          .status = Status::not_applicable,
          .evidence = {std::move(evidence)},
          .cause = std::move(cause)};
}

Finding unanswered(std::string id, const Error& error) {
  Evidence evidence{library, printable(error.text()), "an answer"};
  if (error.code == Errc::not_found) {
    return not_applicable(std::move(id), std::move(evidence), "there is no NVIDIA driver");
  }
  if (error.code == Errc::unsupported) {
    auto cause = "the NVIDIA driver isn't asked: " + evidence.observed;
    return not_applicable(std::move(id), std::move(evidence), std::move(cause));
  }
  return {.id = std::move(id),
          .status = Status::unknown,
          .evidence = {evidence},
          .cause = "the NVIDIA driver can't tell: " + evidence.observed,
          .remedy = error.code == Errc::denied
                        ? "run 'peerpath verify' as root, or as a user who may open /dev/nvidiactl"
                        : "see to it that 'nvidia-smi' lists the GPUs: read the kernel log for "
                          "'NVRM:' lines, and reboot where the driver was updated or hangs"};
}

/// The driver is bound to it, but doesn't list it: it may have fallen off the bus.
Finding missing(std::string id, const std::string& bdf) {
  return {.id = std::move(id),
          .status = Status::unknown,
          .evidence = {{library, fmt::format("{} isn't among the driver's GPUs", bdf),
                        "every GPU that is bound to the driver"}},
          .cause = fmt::format("the NVIDIA driver is bound to {}, but doesn't list it", bdf),
          .remedy = "read the kernel log for 'NVRM:' and 'Xid' lines of this GPU, and reboot"};
}

}  // namespace

Finding unlisted_devices(std::string id, const Facts& facts) {
  const auto error = facts.devices.error().text();
  return {.id = std::move(id),
          .status = Status::unknown,
          .evidence = {{"/sys/bus/pci/devices", error, "devices of " + facts.match_list}},
          .cause = "the PCI devices can't be listed: " + error,
          .remedy = "mend what can't be read, then run 'peerpath verify' again"};
}

tl::expected<AskedGpus, Finding> asked_gpus(std::string id, const Facts& facts) {
  if (!facts.devices) return tl::make_unexpected(unlisted_devices(std::move(id), facts));
  if (facts.devices->empty()) return tl::make_unexpected(no_devices(std::move(id), facts));
  if (!facts.gpus) return tl::make_unexpected(unanswered(std::move(id), facts.gpus.error()));
  AskedGpus asked;
  asked.confidential_computing = facts.gpus->confidential_computing.value_or(false);
  const auto& all = facts.gpus->gpus;
  for (const auto& device : *facts.devices) {
    const auto gpu = std::find_if(all.begin(), all.end(), [&](const GpuStatus::Gpu& candidate) {
      return candidate.bdf == device.bdf;
    });
    if (gpu != all.end()) {
      asked.gpus.push_back(*gpu);
    } else if (device.driver == "nvidia") {
      return tl::make_unexpected(missing(std::move(id), device.bdf));
    }
  }
  if (asked.gpus.size() >= 2) return asked;
  return tl::make_unexpected(not_applicable(
      std::move(id),
      {library, fmt::format("{} of the devices to be checked", asked.gpus.size()),
       "two GPUs or more"},
      "fewer than two of the devices to be checked are GPUs that the NVIDIA driver has"));
}

}  // namespace peerpath::check
