// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "report/verify_report.hpp"

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
