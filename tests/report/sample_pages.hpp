// SPDX-License-Identifier: GPL-2.0-or-later
// Reports of whole machines, to be made into pages.
#pragma once

#include "report/sample_report.hpp"
#include "report/sample_selftest.hpp"
#include "report/selftest_report.hpp"

#include <memory>
#include <utility>
#include <vector>

/// So many GPUs, four below each switch, with the self-test's addresses; a root port, a switch and
/// a network adapter for each four.
inline peerpath::report::Topology machine_topology(std::size_t gpus) {
  using peerpath::check::Translation;
  using peerpath::report::TopologyNode;
  peerpath::report::Topology topology;
  for (std::size_t first = 0; first < gpus; first += 4) {
    const auto bus = fmt::format("pci0000:{:02x}", 0x10 + 0x20 * (first / 4));
    const auto on_bus = [&](const std::string& bdf, const std::optional<std::string>& parent,
                            const std::string& kind) {
      return TopologyNode{
          .bdf = bdf, .host_bridge = bus, .parent = parent, .kind = kind, .name = {}};
    };
    auto root_port = on_bus(fmt::format("{}:01.0", bus.substr(3)), {}, "root-port");
    root_port.acs = TopologyNode::Acs{true, {}, "ACSCtl 0x0000"};
    const auto upstream =
        on_bus(fmt::format("{}:02.0", bus.substr(3)), root_port.bdf, "switch-upstream-port");
    topology.push_back(root_port);
    topology.push_back(upstream);
    for (std::size_t i = first; i < std::min(gpus, first + 4); ++i) {
      auto port = on_bus(fmt::format("{}:{:02x}.0", bus.substr(3), 4 + i), upstream.bdf,
                         "switch-downstream-port");
      port.acs = TopologyNode::Acs{true, {}, "ACSCtl 0x0000"};
      auto gpu = on_bus(fmt::format("0000:{:02x}:00.0", 0x1b + i), port.bdf, "endpoint");
      gpu.name = "NVIDIA Corporation GH100 [H100 PCIe]";
      gpu.numa_node = static_cast<int>(first / 8);
      gpu.iommu = TopologyNode::Iommu{Translation::identity, "identity"};
      gpu.link = TopologyNode::Link{32, 16, 32, 16};
      topology.push_back(port);
      topology.push_back(gpu);
    }
    auto nic = on_bus(fmt::format("{}:03.0", bus.substr(3)), {}, "endpoint");
    nic.name = "Mellanox Technologies MT2910 Family [ConnectX-7]";
    nic.iommu = TopologyNode::Iommu{Translation::identity, "identity"};
    topology.push_back(nic);
  }
  return topology;
}

inline void judge(peerpath::report::VerifyReport& report) {
  report.verdict = peerpath::check::verdict(report.findings);
  report.exit_status = report.verdict == peerpath::check::Status::ok ? 0 : 3;
}

/// Everything is as it ought to be.
inline peerpath::report::VerifyReport good_machine(std::size_t gpus) {
  using peerpath::check::Status;
  auto report = sample_report();
  report.command_line = "BOOT_IMAGE=/vmlinuz-6.1.0-35-amd64 root=/dev/sda1 ro quiet iommu=pt";
  report.note.clear();
  report.topology = machine_topology(gpus);
  report.findings = {{"cmdline.effective", Status::ok, {}, {{"/proc/cmdline", "iommu=pt", ""}}}};
  for (const auto& node : report.topology) {
    if (!node.iommu) continue;
    report.findings.push_back({"iommu.group-type",
                               Status::ok,
                               node.bdf,
                               {{"/sys/kernel/iommu_groups/15/type", "identity", "identity"}}});
  }
  report.findings.push_back({"pcie.acs-redirect",
                             Status::ok,
                             {},
                             {{"the bridges between the devices", "no redirect", ""}}});
  report.findings.push_back({"platform.virtual-machine",
                             Status::not_applicable,
                             {},
                             {{"/sys/hypervisor", "not there", ""}},
                             "this isn't a virtual machine",
                             ""});
  report.selftest = std::make_shared<const peerpath::report::Selftest>(passed_selftest(gpus));
  judge(report);
  return report;
}

/// Eight GPUs, of which one is translated behind a port that redirects, and loses data.
inline peerpath::report::VerifyReport bad_machine() {
  using namespace peerpath;
  auto report = good_machine(8);
  std::string last_port;
  for (auto& node : report.topology) {
    if (node.kind == "switch-downstream-port") last_port = node.bdf;
    if (node.bdf != "0000:20:00.0") continue;
    node.iommu = report::TopologyNode::Iommu{check::Translation::translated, "DMA-FQ"};
    node.link = report::TopologyNode::Link{32, 8, 32, 16};
    break;
  }
  for (auto& node : report.topology) {
    if (node.bdf == last_port) node.acs = {true, {"ReqRedir", "CmpltRedir"}, "ACSCtl 0x001d"};
  }
  for (auto& finding : report.findings) {
    if (finding.device != "0000:20:00.0") continue;
    finding.status = check::Status::fail;
    finding.evidence[0].observed = "DMA-FQ";
    finding.cause = "the kernel translates the device's DMA";
    finding.remedy = "run 'peerpath ensure' and reboot";
  }
  report.findings.push_back(
      {"pcie.acs-redirect",
       check::Status::fail,
       "0000:1f:00.0",
       {{last_port + " ACSCtl", "0x001d: ReqRedir CmpltRedir", "neither ReqRedir nor CmpltRedir"}},
       "ACS at this port sends what the GPUs say to each other up to the root complex",
       "turn ACS off in the firmware, or put pci=disable_acs_redir=" + last_port +
           " on the kernel command line",
       "0000:20:00.0"});
  report.findings.push_back({"pcie.link",
                             check::Status::warn,
                             "0000:20:00.0",
                             {{"current_link_width", "8", "16"}},
                             "the link is trained at half its width",
                             "seat the card anew"});
  auto selftest = passed_selftest(8);
  for (std::size_t other = 0; other < 8; ++other) {
    if (other == 5) continue;
    spoil(pair_of(selftest, other, 5), gpu::Verdict::corruption, gpu::Outcome::corrupt,
          gpu::Signature::zeros, "zeros instead of data at the owner");
    auto& back = pair_of(selftest, 5, other);
    spoil(back, gpu::Verdict::degraded, gpu::Outcome::degraded, gpu::Signature::none,
          "11.2 of 63.0 GB/s: it goes through the root complex");
    back.bytes_per_second = (11.2 + static_cast<double>(other) * 0.3) * 1e9;
    back.nanoseconds = 2890;
  }
  pair_of(selftest, 0, 7).bytes_per_second = 38.1e9;
  pair_of(selftest, 0, 7).nanoseconds = 1730;
  selftest.faults[4] = {"[1234.500000] DMAR: [DMA Write NO_PASID] Request device [20:00.0] fault"};
  report.findings.push_back(
      {"p2p.corruption",
       check::Status::fail,
       "0000:1b:00.0",
       {{"self-test", "wrong data at the owner in ce-write: zeros", "what was written"}},
       "zeros instead of data at the owner",
       "run 'peerpath verify' and mend what it says",
       "0000:20:00.0"});
  report.selftest = std::make_shared<const report::Selftest>(selftest);
  judge(report);
  return report;
}

/// Sixteen GPUs with pairs of every verdict.
inline peerpath::report::VerifyReport large_machine() {
  auto report = good_machine(16);
  report.findings.push_back({"p2p.corruption",
                             peerpath::check::Status::fail,
                             {},
                             {{"self-test", "9 of 240 pairs didn't pass", ""}},
                             "see the pairs",
                             "mend what 'peerpath verify' says"});
  report.selftest = std::make_shared<const peerpath::report::Selftest>(mixed_selftest());
  judge(report);
  return report;
}

/// Texts that would be markup, that don't end, or that aren't text.
inline const std::string hostile =
    "</style></title><script>alert(1)</script><img src=x onerror=alert(2)>\"'>&amp;&#60;"
    "\x01\xff\xe2\x80\xae<!--]]>";

/// Every text that a machine could have brought in is hostile, and long.
inline peerpath::report::VerifyReport hostile_machine() {
  auto report = bad_machine();
  const auto text = hostile + std::string(600, 'W');
  for (auto* field : {&report.release, &report.machine, &report.boot_id, &report.command_line})
    *field = text;
  report.version = text;
  report.note = text;
  for (auto& node : report.topology) {
    node.name = text;
    node.kind = text;
    node.host_bridge += hostile;
    if (node.acs) node.acs = peerpath::report::TopologyNode::Acs{true, {text}, text};
    if (node.iommu) node.iommu->detail = text;
  }
  for (auto& finding : report.findings) {
    finding.id += hostile;
    finding.device = text;
    finding.peer = text;
    for (auto& evidence : finding.evidence)
      evidence = {text, text, text};
    finding.cause = text;
    if (!finding.remedy.empty()) finding.remedy = text;
  }
  auto selftest = *report.selftest;
  for (auto& gpu : selftest.run.gpus) {
    gpu.bdf = hostile;
    gpu.name = text;
  }
  for (auto& pair : selftest.run.pairs)
    pair.reason = pair.reason.empty() ? "" : text;
  selftest.faults[0] = {text};
  selftest.run.not_tested = {text};
  selftest.run.detail = text;
  selftest.notes = {text};
  report.selftest = std::make_shared<const peerpath::report::Selftest>(selftest);
  return report;
}

/// The pages that a browser is tried with, by name.
inline std::vector<std::pair<std::string, peerpath::report::VerifyReport>> sample_pages() {
  auto two = sample_report();
  two.note.clear();
  peerpath::report::VerifyReport empty;
  return {{"good", good_machine(8)},  {"bad", bad_machine()},         {"two", two},
          {"large", large_machine()}, {"hostile", hostile_machine()}, {"empty", empty}};
}
