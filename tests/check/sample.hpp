// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "check/checks.hpp"
#include "check/facts.hpp"
#include "support/catch.hpp"

#include <optional>
#include <string>
#include <vector>

namespace peerpath::test {

/// A GPU whose group has that type; nothing: it has no group.
inline probe::PciDevice gpu(const std::optional<std::string>& type,
                            const std::string& bdf = "0000:3b:00.0") {
  probe::PciDevice device{.bdf = bdf,
                          .vendor = 0x10de,
                          .device = 0x2330,
                          .class_code = 0x030200,
                          .driver = "nvidia",
                          .group = std::nullopt,
                          .group_type = ""};
  if (type) device.group = "12";
  device.group_type = type.value_or("");
  return device;
}

/// A GPU whose group's type the kernel doesn't show.
inline probe::PciDevice untold_gpu(const std::string& bdf = "0000:3b:00.0") {
  auto device = gpu("", bdf);
  device.group_type = fail(Errc::not_found, "'/sys/bus/pci/devices/" + bdf +
                                                "/iommu_group/type': no such file or directory");
  return device;
}

/// What the driver says of these GPUs, each with 80 GiB, where all is well.
inline check::GpuStatus healthy_gpus(const std::vector<probe::PciDevice>& devices) {
  check::GpuStatus status;
  for (const auto& device : devices) {
    status.gpus.push_back({device.bdf, false, std::uint64_t{80} << 30U});
    for (const auto& other : devices) {
      if (device.bdf != other.bdf) status.peers[{device.bdf, other.bdf}] = {"OK", "OK", "NS", "OK"};
    }
  }
  status.confidential_computing = false;
  return status;
}

/// A kernel log without a gap and without anything that tells.
inline probe::KernelLog whole_log() {
  probe::KernelLog log;
  log.source = "/dev/kmsg";
  log.from_start = true;
  return log;
}

/// An Intel host with Ubuntu's kernel, booted with these words.
inline check::Facts host(const std::string& words, std::vector<probe::PciDevice> devices) {
  check::Facts facts;
  facts.command_line = "BOOT_IMAGE=/vmlinuz root=/dev/sda2 ro " + words + "\n";
  facts.kernel.release = "6.8.0-60-generic";
  facts.kernel.machine = "x86_64";
  facts.kernel.boot_id = "1b5f0d3c-9a36-4a60-8a8e-3f6d0f0b5a02";
  facts.kernel.config = probe::KernelConfig{probe::KernelConfig::Default::lazy, true,
                                            "/boot/config-6.8.0-60-generic"};
  facts.kernel.bootconfig = "";
  facts.devices = std::move(devices);
  facts.match_list = "10de:*:0300 10de:*:0302";
  facts.iommu.units = std::vector<std::string>{"dmar0"};
  facts.iommu.firmware_tables = {"DMAR"};
  facts.configured = check::ConfiguredBoot{cmdline::Mode::passthrough, "/boot/grub/grub.cfg:120"};
  facts.nvidia.version = "NVIDIA UNIX x86_64 Kernel Module  550.90.07";
  facts.nvidia.parameters =
      std::map<std::string, std::string>{{"DmaRemapPeerMmio", "1"}, {"RegistryDwords", ""}};
  facts.gpus = healthy_gpus(*facts.devices);
  facts.log = whole_log();
  facts.machine.hypervisor = "none";
  facts.machine.xen_dom0 = false;
  facts.machine.memory_encryption = false;
  facts.machine.snp_host = false;
  facts.machine.cpu = "GenuineIntel Intel(R) Xeon(R) Platinum 8480+";
  facts.machine.product = "SYS-420GP-TNR";
  facts.machine.kexec_loaded = false;
  facts.machine.booted_by_kexec = false;
  return facts;
}

/// The same without any IOMMU.
inline check::Facts host_without_iommu(const std::string& words) {
  auto facts = host(words, {gpu(std::nullopt)});
  facts.iommu.units = std::vector<std::string>{};
  facts.iommu.firmware_tables.clear();
  return facts;
}

/// What holds for every finding, whatever the facts.
inline void check_shape(const check::Check& check, const check::Finding& finding) {
  using check::Status;
  INFO(finding.id << ": " << finding.cause);
  CHECK(finding.id == check.record.id);
  CHECK_FALSE(finding.evidence.empty());
  for (const auto& evidence : finding.evidence) {
    CHECK_FALSE(evidence.source.empty());
    CHECK_FALSE(evidence.observed.empty());
  }
  const bool is_bad = finding.status == Status::warn || finding.status == Status::fail ||
                      finding.status == Status::unknown;
  CHECK(finding.remedy.empty() == !is_bad);
  CHECK(finding.cause.empty() == (finding.status == Status::ok));
}

inline std::vector<check::Finding> run(const check::Check& check, const check::Facts& facts) {
  auto findings = check.run(facts);
  REQUIRE_FALSE(findings.empty());
  for (const auto& finding : findings)
    check_shape(check, finding);
  return findings;
}

/// Where the check has one finding to make.
inline check::Finding run_one(const check::Check& check, const check::Facts& facts) {
  auto findings = run(check, facts);
  REQUIRE(findings.size() == 1);
  return findings.front();
}

inline bool has_evidence(const check::Finding& finding, std::string_view text) {
  for (const auto& evidence : finding.evidence) {
    if (evidence.observed.find(text) != std::string::npos) return true;
  }
  return false;
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace peerpath::test
