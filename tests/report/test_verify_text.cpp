// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/explain.hpp"
#include "report/sample_report.hpp"
#include "report/verify_report.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <chrono>

using namespace peerpath::report;
using peerpath::check::Finding;
using peerpath::check::Status;

TEST_CASE("to_text: a report → worst first, the same trouble of two devices together") {
  const auto expected =
      "Verdict: fail (2 fail, 1 unknown, 1 warn, 1 ok, 1 not-applicable)\n"
      "  kernel 6.1.0-35-amd64 on x86_64, boot 0f2c2d8e-0000-4000-8000-2d3c5d6e7f80\n"
      "  command line: BOOT_IMAGE=/vmlinuz root=/dev/sda1 iommu=nopt\n"
      "  checked 2026-08-01T12:00:00Z by peerpath 0.1.0\n"
      "  this version has no test of the pairs\n"
      "\n"
      "fail iommu.group-type: " +
      title_of("iommu.group-type") +
      "\n"
      "  0000:3b:00.0\n"
      "    /sys/kernel/iommu_groups/15/type: DMA-FQ (expected identity)\n"
      "  0000:5e:00.0\n"
      "    /sys/kernel/iommu_groups/16/type: DMA (expected identity)\n"
      "  Cause: the kernel translates the device's DMA\n"
      "  Remedy: run 'peerpath ensure' and reboot\n"
      "\n"
      "unknown boot.pending-reboot: " +
      title_of("boot.pending-reboot") +
      "\n"
      "  /boot/grub/grub.cfg: permission denied\n"
      "  Cause: the file can't be read\n"
      "  Remedy: run as root\n"
      "\n"
      "warn cmdline.conflict: " +
      title_of("cmdline.conflict") +
      "\n"
      "  /proc/cmdline: iommu=pt (expected the last word)\n"
      "  Cause: overridden by 'iommu=nopt'\n"
      "  Remedy: remove 'iommu=nopt'\n"
      "\n"
      "ok cmdline.effective: " +
      title_of("cmdline.effective") +
      "\n"
      "not-applicable p2p.selftest: " +
      title_of("p2p.selftest") +
      "\n"
      "  Cause: there is no NVIDIA driver\n";
  auto report = sample_report();
  report.topology.clear();
  CHECK(to_text(report) == expected);
}

TEST_CASE("to_text: a topology → the tree between the verdict and the findings") {
  const auto text = to_text(sample_report(), {.unicode = true});
  CHECK(
      text.find("  this version has no test of the pairs\n\npci0000:3a  NUMA node 0\n└─ 0000:3a") !=
      std::string::npos);
  CHECK(text.find("x16  NVIDIA Corporation GH100 …\n\nfail iommu.group-type: ") !=
        std::string::npos);
}

TEST_CASE("to_text: verbose → the evidence of every finding") {
  const auto text = to_text(sample_report(), {.verbose = true});
  CHECK(text.find("\nok cmdline.effective: " + title_of("cmdline.effective") +
                  "\n  /proc/cmdline: iommu=nopt\n\nnot-applicable p2p.selftest: " +
                  title_of("p2p.selftest") +
                  "\n  libcuda.so.1: no such library (expected two GPUs or more)\n"
                  "  Cause: there is no NVIDIA driver\n") != std::string::npos);
}

TEST_CASE("to_text: good findings of several devices → one line with their number") {
  VerifyReport report;
  for (const char* bdf : {"0000:3b:00.0", "0000:5e:00.0"}) {
    report.findings.push_back({.id = "iommu.group-type",
                               .status = Status::ok,
                               .device = bdf,
                               .evidence = {{"a", "b", ""}}});
  }
  report.findings.push_back(
      {.id = "pcie.link", .status = Status::ok, .device = "0000:3b:00.0", .evidence = {{}}});
  const auto text = to_text(report);
  CHECK(text.find(
            "\n\nok iommu.group-type: IOMMU translation of each GPU (2 devices)\nok pcie.link") !=
        std::string::npos);
  CHECK(text.find("(1 device)\n") != std::string::npos);
}

TEST_CASE("to_text: nothing to check → the cause once, below all that have it") {
  VerifyReport report;
  for (const char* id : {"a.one", "b.other", "a.two"}) {
    report.findings.push_back({.id = id,
                               .status = Status::not_applicable,
                               .evidence = {{}},
                               .cause = id[0] == 'a' ? "no device" : "no driver"});
  }
  const auto text = to_text(report);
  CHECK(text.find("\n\nnot-applicable a.one: a.one\nnot-applicable a.two: a.two\n"
                  "  Cause: no device\n"
                  "not-applicable b.other: b.other\n  Cause: no driver\n") != std::string::npos);
}

TEST_CASE("to_text: 20,000 findings that all differ → in reasonable time") {
  VerifyReport report;
  for (int i = 0; i < 20'000; ++i) {
    report.findings.push_back({.id = "iommu.group-type",
                               .status = Status::fail,
                               .device = std::to_string(i),
                               .evidence = {{"a", "b", "c"}},
                               .cause = "cause " + std::to_string(i),
                               .remedy = "remedy"});
  }
  const auto start = std::chrono::steady_clock::now();
  const auto text = to_text(report);
  // With the square of their number it took tens of seconds.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  CHECK(std::count(text.begin(), text.end(), '\n') > 80'000);
}

TEST_CASE("to_text: colour only where asked for") {
  CHECK(to_text(sample_report()).find('\033') == std::string::npos);
  const auto coloured = to_text(sample_report(), {.colour = true});
  CHECK(coloured.find("Verdict: \033[1;31mfail\033[0m (2 fail") != std::string::npos);
  CHECK(coloured.find("\033[1;32mok\033[0m cmdline.effective") != std::string::npos);
}

TEST_CASE("to_text: control bytes from outside → never reach the terminal") {
  auto report = sample_report();
  const std::string evil = "x\033]0;y\007\r\n\xff";
  report.release = report.machine = report.boot_id = report.command_line = evil;
  report.version = report.note = evil;
  for (auto& finding : report.findings) {
    finding.id += evil;
    if (finding.device) finding.device = evil;
    finding.evidence = {{evil, evil, evil}};
    finding.cause = finding.remedy = evil;
  }
  const auto text = to_text(report);
  for (const char c : text)
    CHECK((c == '\n' || (c >= 0x20 && c < 0x7f)));
  CHECK(text.find("x\\x1b]0;y\\x07\\x0d\\x0a\\xff") != std::string::npos);
}

TEST_CASE("to_text: what could not be read → unknown") {
  VerifyReport report;
  report.version = "0.1.0";
  const auto text = to_text(report);
  CHECK(text ==
        "Verdict: unknown (no findings)\n"
        "  kernel unknown on unknown, boot unknown\n"
        "  command line: unknown\n"
        "  checked 1970-01-01T00:00:00Z by peerpath 0.1.0\n");
}

TEST_CASE("to_text: a narrow terminal → lines keep to it, long words stay whole") {
  auto report = sample_report();
  report.findings[2].cause = "é é é é é é é é é é é é é é é é é é é é é é é é é é é";
  const auto text = to_text(report, {.width = 40});
  CHECK(text.find("  Cause: é é é é é é é é é é é é é é é é\n    é é é") != std::string::npos);
  CHECK(text.find("boot\n    0f2c2d8e-0000-4000-8000-2d3c5d6e7f80\n") != std::string::npos);
  CHECK(text.find("    /sys/kernel/iommu_groups/15/type:\n      DMA-FQ (expected identity)\n") !=
        std::string::npos);
}
