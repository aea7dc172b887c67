// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "report/verify_report.hpp"

/// Two GPUs on one switch below a root port; the port of the second redirects.
inline peerpath::report::Topology sample_topology() {
  using peerpath::check::Translation;
  using peerpath::report::TopologyNode;
  const std::string bus = "pci0000:3a";
  TopologyNode root_port{.bdf = "0000:3a:01.0", .host_bridge = bus, .kind = "root-port"};
  TopologyNode upstream{.bdf = "0000:3b:00.0",
                        .host_bridge = bus,
                        .parent = root_port.bdf,
                        .kind = "switch-upstream-port"};
  TopologyNode clear{.bdf = "0000:3c:00.0",
                     .host_bridge = bus,
                     .parent = upstream.bdf,
                     .kind = "switch-downstream-port",
                     .acs = TopologyNode::Acs{true, {}, "ACSCtl"}};
  TopologyNode redirects{.bdf = "0000:3c:01.0",
                         .host_bridge = bus,
                         .parent = upstream.bdf,
                         .kind = "switch-downstream-port",
                         .acs = TopologyNode::Acs{true, {"ReqRedir", "CmpltRedir"}, "ACSCtl"}};
  TopologyNode passed{.bdf = "0000:3d:00.0",
                      .host_bridge = bus,
                      .parent = clear.bdf,
                      .kind = "endpoint",
                      .name = "NVIDIA Corporation GH100 [H100 SXM5 80GB]",
                      .numa_node = 0,
                      .iommu = TopologyNode::Iommu{Translation::identity, "identity"},
                      .link = TopologyNode::Link{32, 16, 32, 16}};
  auto translated = passed;
  translated.bdf = "0000:3e:00.0";
  translated.parent = redirects.bdf;
  translated.iommu = {Translation::translated, "DMA-FQ"};
  translated.link = {2.5, 8, 32, 16};
  return {root_port, upstream, clear, passed, redirects, translated};
}

/// A report with one finding of each status.
inline peerpath::report::VerifyReport sample_report() {
  using peerpath::check::Finding;
  using peerpath::check::Status;
  peerpath::report::VerifyReport report;
  report.kind = peerpath::report::VerifyReport::Kind::boot_check;
  report.version = "0.1.0";
  report.time = 1785585600;
  report.release = "6.1.0-35-amd64";
  report.machine = "x86_64";
  report.boot_id = "0f2c2d8e-0000-4000-8000-2d3c5d6e7f80";
  report.command_line = "BOOT_IMAGE=/vmlinuz root=/dev/sda1 iommu=nopt";
  report.topology = sample_topology();
  report.findings = {
      Finding{"cmdline.effective", Status::ok, {}, {{"/proc/cmdline", "iommu=nopt", ""}}, "", ""},
      Finding{"p2p.selftest",
              Status::not_applicable,
              {},
              {{"libcuda.so.1", "no such library", "two GPUs or more"}},
              "there is no NVIDIA driver",
              ""},
      Finding{"iommu.group-type",
              Status::fail,
              "0000:3b:00.0",
              {{"/sys/kernel/iommu_groups/15/type", "DMA-FQ", "identity"}},
              "the kernel translates the device's DMA",
              "run 'peerpath ensure' and reboot"},
      Finding{"cmdline.conflict",
              Status::warn,
              {},
              {{"/proc/cmdline", "iommu=pt", "the last word"}},
              "overridden by 'iommu=nopt'",
              "remove 'iommu=nopt'"},
      Finding{"iommu.group-type",
              Status::fail,
              "0000:5e:00.0",
              {{"/sys/kernel/iommu_groups/16/type", "DMA", "identity"}},
              "the kernel translates the device's DMA",
              "run 'peerpath ensure' and reboot"},
      Finding{"boot.pending-reboot",
              Status::unknown,
              {},
              {{"/boot/grub/grub.cfg", "permission denied", ""}},
              "the file can't be read",
              "run as root"},
  };
  report.verdict = peerpath::check::verdict(report.findings);
  report.exit_status = 3;
  report.note = "this version has no test of the pairs";
  return report;
}
