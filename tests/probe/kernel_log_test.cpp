// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/kernel_log.hpp"

#include "probe/kernel_log_line.hpp"
#include "support/catch.hpp"
#include "support/fake_system.hpp"
#include "support/temp_root.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::probe {

using test::FakeSystem;
using test::TempRoot;

namespace {

using Kind = LogFact::Kind;
using Source = DmaFault::Source;

/// Lines as /dev/kmsg has them, one a tenth of a second.
std::string kmsg(const std::vector<std::string>& lines, std::uint64_t first = 0) {
  std::string text;
  for (const auto& line : lines) {
    text += fmt::format("4,{},{},-;{}\n", first, first * 100000, line);
    ++first;
  }
  return text;
}

Result<KernelLog> read_lines(const std::vector<std::string>& lines, std::uint64_t first = 0) {
  TempRoot root;
  root.file("/dev/kmsg", kmsg(lines, first));
  return read_kernel_log(root.system());
}

std::string journal(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += fmt::format("[{:>12.6f}] gpuhost kernel: {}\n", 0.1 * static_cast<double>(i), lines[i]);
  return text;
}

const std::string linux_version = "Linux version 6.8.0-60-generic (buildd@lcy02) #63-Ubuntu SMP";

struct FaultLine {
  std::string line;
  Source source;
  std::optional<std::string> bdf;
};

/// From public reports, and the formats of the kernels in between.
const std::vector<FaultLine> fault_lines{
    // Intel: 4.x, 5.4 to 5.12, 5.13 and 5.14, later, and with the PCI domain.
    {"DMAR: [DMA Write] Request device [00:12.0] fault addr 0 [fault reason 05] PTE Write access "
     "is not set",
     Source::intel, "0000:00:12.0"},
    {"DMAR: [DMA Read] Request device [3b:00.0] fault addr ffc00000 [fault reason 06] PTE Read "
     "access is not set",
     Source::intel, "0000:3b:00.0"},
    {"DMAR: [DMA Read] Request device [00:02.0] PASID ffffffff fault addr 9c000000 [fault reason "
     "06] PTE Read access is not set",
     Source::intel, "0000:00:02.0"},
    {"DMAR: [DMA Read NO_PASID] Request device [0x00:0x02.0] fault addr 0x70ad5000 [fault reason "
     "0x07] Next page table ptr is invalid",
     Source::intel, "0000:00:02.0"},
    {"DMAR: [DMA Write NO_PASID] Request device [0x3b:0x00.0] fault addr 0x9c000000 [fault reason "
     "0x05] PTE Write access is not set",
     Source::intel, "0000:3b:00.0"},
    {"DMAR: [DMA Write NO_PASID] Request device [3B:1f.7] fault addr 0x9c000000 [fault reason "
     "0x05] PTE Write access is not set",
     Source::intel, "0000:3b:1f.7"},
    {"DMAR: [DMA Read PASID 0x1] Request device [3b:00.0] fault addr 0x9c000000 [fault reason "
     "0x05] PTE Write access is not set",
     Source::intel, "0000:3b:00.0"},
    {"DMAR: [DMA Read NO_PASID] Request device [0000:00:16.4] fault addr 0x9c000000 [fault reason "
     "0x06] PTE Read access is not set",
     Source::intel, "0000:00:16.4"},
    {"DMAR: [DMA Read NO_PASID] Request device [10001:01:00.0] fault addr 0x9c000000 [fault "
     "reason 0x06] PTE Read access is not set",
     Source::intel, "10001:01:00.0"},
    // AMD: NVIDIA/cuda-samples 48, and without the kernel's data of the device.
    {"nvidia 0000:07:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0003 address=0x80000040 "
     "flags=0x0020]",
     Source::amd, "0000:07:00.0"},
    {"nvidia 0000:07:00.0: Event logged [IO_PAGE_FAULT domain=0x000f address=0x00000000ea13a000 "
     "flags=0x0020]",
     Source::amd, "0000:07:00.0"},
    {"AMD-Vi: Event logged [IO_PAGE_FAULT device=41:00.0 domain=0x000e address=0x000003f80001b100 "
     "flags=0x0030]",
     Source::amd, "0000:41:00.0"},
    {"AMD-Vi: Event logged [IO_PAGE_FAULT device=0000:41:00.0 domain=0x000e "
     "address=0x000003f80001b100 flags=0x0030]",
     Source::amd, "0000:41:00.0"},
    {"ivhd ivhd0: AMD-Vi: Event logged [ILLEGAL_DEV_TABLE_ENTRY device=0000:41:00.0 "
     "pasid=0x00000 address=0xfffffffdf8000000 flags=0x0a00]",
     Source::amd, "0000:41:00.0"},
    {"AMD-Vi: AMD-Vi: Event logged [IOTLB_INV_TIMEOUT device=41:00.0 address=0x000000040b1c6e60]",
     Source::amd, "0000:41:00.0"},
    // Arm's SMMUv2 names no device.
    {"arm-smmu 5000000.iommu: Unhandled context fault: fsr=0x402, iova=0x80000040, fsynr=0x1, "
     "cbfrsynra=0x400, cb=3",
     Source::smmu, std::nullopt},
    // NVIDIA's driver: open-gpu-kernel-modules and tinygrad's fork of it, issue 44.
    {"NVRM: Xid (PCI:0000:01:00): 31, pid=21804, name=simpleP2P, Ch 00000013, intr 00000000. MMU "
     "Fault: ENGINE CE3 HUBCLIENT_CE1 faulted @ 0x7f97_94000000. Fault is of type "
     "FAULT_INFO_TYPE_UNSUPPORTED_KIND ACCESS_TYPE_VIRT_WRITE",
     Source::xid, "0000:01:00.0"},
    {"NVRM: Xid (0000:C1:00): 79, GPU has fallen off the bus.", Source::xid, "0000:c1:00.0"},
    {"NVRM: IOMMU mapping failed from GPU1 to GPU0", Source::nvidia, std::nullopt},
    {"NVRM: The peer DMA address 0x1800400000 is not aligned at 0x20000000", Source::nvidia,
     std::nullopt},
    {"NVRM: nvAssertFailedNoLog: Assertion failed: pIOVAS != NULL @ io_vaspace.c:592",
     Source::nvidia, std::nullopt},
};

}  // namespace

TEST_CASE("parse_log_line: every format of a fault → its teller and its device") {
  for (const auto& row : fault_lines) {
    INFO(row.line);
    const auto fact = parse_log_line(row.line);
    REQUIRE(fact.has_value());
    CHECK(fact->kind == Kind::fault);
    CHECK(fact->source == row.source);
    CHECK(fact->bdf == row.bdf);
  }
}

TEST_CASE("parse_log_line: lines that tell what was decided → each its kind") {
  const std::vector<std::pair<std::string, Kind>> rows{
      {"iommu: Default domain type: Translated ", Kind::default_domain},
      {"iommu: Default domain type: Passthrough (set via kernel command line)",
       Kind::default_domain},
      {"iommu: DMA domain TLB invalidation policy: lazy mode ", Kind::invalidation},
      {"iommu: Memory encryption detected - Disabling default IOMMU Passthrough",
       Kind::memory_encryption},
      {"iommu: SME detected - Disabling default IOMMU Passthrough", Kind::memory_encryption},
      {"Memory Encryption Features active: AMD SME", Kind::encryption_active},
      {"AMD Memory Encryption Features active: SME", Kind::encryption_active},
      {"AMD Secure Memory Encryption (SME) active", Kind::encryption_active},
      {"DMAR: Intel-IOMMU force enabled due to platform opt in", Kind::platform_opt_in},
      {"AMD-Vi: SNP: IOMMU disabled or configured in passthrough mode, SNP cannot be supported.",
       Kind::snp_lost},
      {"iommu: Failed to allocate default IOMMU domain of type 4 for group (null) - Falling back "
       "to IOMMU_DOMAIN_DMA",
       Kind::domain},
      {"pci 0000:3b:00.0: Device is not trusted, but driver is overriding group 12 to identity, "
       "refusing to probe.",
       Kind::domain},
      {"nvidia 0000:3b:00.0: Device cannot be in identity domain", Kind::domain},
      {"nvidia 0000:3b:00.0: Device is still bound to driver: nvidia", Kind::domain},
      {"Malformed early option 'iommu'", Kind::option},
      {"DMAR: Unknown option - 'pt'", Kind::option},
      {"AMD-Vi: Unknown option - 'pt'", Kind::option},
      {"Unknown kernel command line parameters \"splash\", will be passed to user space.",
       Kind::option},
  };
  for (const auto& [line, kind] : rows) {
    INFO(line);
    const auto fact = parse_log_line(line);
    REQUIRE(fact.has_value());
    CHECK(fact->kind == kind);
  }
}

TEST_CASE("parse_log_line: suppressed callbacks → counted where they could be faults") {
  const auto count = [](std::string_view line) {
    const auto fact = parse_log_line(line);
    return fact && fact->kind == Kind::suppressed ? fact->count : 0;
  };
  CHECK(count("dmar_fault: 2474 callbacks suppressed") == 2474);
  CHECK(count("amd_iommu_report_page_fault: 12 callbacks suppressed") == 12);
  CHECK(count("arm_smmu_context_fault: 3 callbacks suppressed") == 3);
  CHECK(count("nvidia_isr: 7 callbacks suppressed") == 7);
  CHECK(count("printk: 5 messages suppressed.") == 5);
  CHECK(count("net_ratelimit: 9 callbacks suppressed") == 0);
  CHECK(count("dmar_fault: many callbacks suppressed") == 0);
  CHECK(count("dmar_fault: 99999999999999999999999 callbacks suppressed") == 0);
}

TEST_CASE("parse_log_line: lines that resemble ours → nothing") {
  for (const std::string_view line : {
           "",
           ":",
           ": ",
           "DMAR:",
           "DMAR: IOMMU enabled",
           "DMAR: DRHD: handling fault status reg 2",
           "DMAR: [INTR-REMAP] Request device [f0:1f.7] fault index 0x0 [fault reason 0x25]",
           "DMAR: Hardware identity mapping for device 0000:3b:00.0",
           "AMD-Vi: Interrupt remapping enabled",
           "AMD-Vi: Extended features (0xa5bf7320a2294aee): PPR X2APIC NX GT [5] IA GA PC",
           "Command line: iommu.passthrough=0 iommu=pt DMAR: [DMA Read] Request device [3b:00.0]",
           "Kernel command line: iommu=pt",
           "pci 0000:01:00.0: Adding to iommu group 12",
           "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.133.20",
           "NVRM: GPU at PCI:0000:01:00: GPU-5e5e3b5c-0d31-4a4d-9c7f-111111111111",
           "NVRM: kbusCreateP2PMappingForBar1P2P_GH100: added PCIe BAR1 P2P mapping between GPU2 "
           "and GPU3",
           "arm-smmu-v3 arm-smmu-v3.0.auto: \t0x0000010000000010",
           "usb 1-1: device descriptor read/64, error -71",
           "systemd[1]: DMAR: [DMA Read] Request device [3b:00.0] fault addr 0",
           "Mount-cache hash table entries: 65536",
       }) {
    INFO(line);
    CHECK_FALSE(parse_log_line(line).has_value());
  }
}

TEST_CASE("parse_log_address: what isn't an address → nothing") {
  for (const std::string_view text :
       {"", ":", ".", "3b", "3b:", ":00.0", "3b:00.", "3b:00.8", "3b:20.0", "100:00.0", "3b:00.0 ",
        "0000:0000:3b:00.0", "0x:0x00.0", "ivhd0", "123456789:00:00.0", "-1:00.0"}) {
    INFO(text);
    CHECK_FALSE(parse_log_address(text).has_value());
  }
}

TEST_CASE("read_kernel_log: faults of every format → counted by device and teller") {
  std::vector<std::string> lines{linux_version};
  for (const auto& row : fault_lines)
    lines.push_back(row.line);
  const auto log = read_lines(lines).value();
  CHECK(log.source == "/dev/kmsg");
  CHECK(log.from_start);
  std::uint64_t total = 0;
  for (const auto& fault : log.faults) {
    const auto expected = static_cast<std::uint64_t>(std::count_if(
        fault_lines.begin(), fault_lines.end(),
        [&](const FaultLine& row) { return row.bdf == fault.bdf && row.source == fault.source; }));
    INFO(name_of(fault.source) << " " << fault.bdf.value_or("no device"));
    CHECK(fault.count == expected);
    total += fault.count;
  }
  CHECK(total == fault_lines.size());
}

TEST_CASE("read_kernel_log: a flood → one fault with its count, first and last") {
  std::vector<std::string> lines{linux_version};
  for (int i = 0; i < 1000; ++i) {
    lines.push_back(fmt::format(
        "DMAR: [DMA Write NO_PASID] Request device [3b:00.0] fault addr {:#x} [fault reason 0x05] "
        "PTE Write access is not set",
        i * 4096));
  }
  lines.emplace_back("dmar_fault: 2474 callbacks suppressed");
  lines.emplace_back("dmar_fault: 26 callbacks suppressed");
  const auto log = read_lines(lines).value();
  REQUIRE(log.faults.size() == 1);
  CHECK(log.faults[0].bdf == "0000:3b:00.0");
  CHECK(log.faults[0].count == 1000);
  CHECK(log.faults[0].first.time == Approx(0.1));
  CHECK(log.faults[0].first.text.find("addr 0x0 ") != std::string::npos);
  CHECK(log.faults[0].last.time == Approx(100.0));
  CHECK(log.faults[0].last.text.find("addr 0x3e7000 ") != std::string::npos);
  CHECK(log.suppressed == 2500);
}

TEST_CASE("read_kernel_log: events of an SMMUv3 → once each, with the device where it's named") {
  const std::string smmu = "arm-smmu-v3 arm-smmu-v3.0.auto: ";
  const std::vector<std::string> event{smmu + "event 0x10 received:", smmu + "\t0x0000010000000010",
                                       smmu + "\t0x0000020000000000"};
  const std::string client =
      smmu +
      "event: F_TRANSLATION client: 0000:01:00.0 sid: 0x100 ssid: 0x0 iova: 0x80000040 ipa: "
      "0x0";
  const std::string nobody =
      smmu + "event: C_BAD_STREAMID client: (unassigned sid) sid: 0x100 ssid: 0x0";
  std::vector<std::string> lines{linux_version};
  const auto add = [&](const std::string* after) {
    lines.insert(lines.end(), event.begin(), event.end());
    if (after != nullptr) lines.push_back(*after);
  };
  add(&client);
  add(nullptr);
  add(&client);
  add(&nobody);
  add(nullptr);
  const auto log = read_lines(lines).value();
  REQUIRE(log.faults.size() == 2);
  CHECK_FALSE(log.faults[0].bdf.has_value());
  CHECK(log.faults[0].count == 3);
  CHECK(log.faults[1].bdf == "0000:01:00.0");
  CHECK(log.faults[1].count == 2);
}

TEST_CASE("read_kernel_log: lines that tell what was decided → the first of each kind is kept") {
  const auto log =
      read_lines({linux_version, "Unknown kernel command line parameters \\x5cx, will be passed",
                  "iommu: Default domain type: Translated ", "iommu: Default domain type: Other",
                  "DMAR: Intel-IOMMU force enabled due to platform opt in",
                  "nvidia 0000:3b:00.0: Device cannot be in identity domain"})
          .value();
  REQUIRE(log.default_domain.has_value());
  CHECK(log.default_domain->text == "iommu: Default domain type: Translated ");
  CHECK(log.default_domain->time == Approx(0.2));
  REQUIRE(log.platform_opt_in.has_value());
  CHECK_FALSE(log.memory_encryption.has_value());
  REQUIRE(log.domain_lines.size() == 1);
  REQUIRE(log.option_lines.size() == 1);
  CHECK(log.option_lines[0].text == "Unknown kernel command line parameters \\x, will be passed");
}

TEST_CASE("read_kernel_log: a flood of refused types → 64 of them are kept") {
  std::vector<std::string> lines(1000, "nvidia 0000:3b:00.0: Device cannot be in identity domain");
  CHECK(read_lines(lines).value().domain_lines.size() == 64);
}

TEST_CASE("read_kernel_log: a beginning that's lost → told, with the time of what's left") {
  const auto log = read_lines({"usb 1-1: new device", "usb 1-2: new device"}, 7000).value();
  CHECK_FALSE(log.from_start);
  CHECK(log.first_time == Approx(700.0));
}

TEST_CASE("read_kernel_log: records missing in the middle → not from the start") {
  TempRoot root;
  root.file("/dev/kmsg", kmsg({linux_version, "one"}) + kmsg({"two", "three"}, 500));
  const auto log = read_kernel_log(root.system()).value();
  CHECK_FALSE(log.from_start);
  CHECK(log.first_time == Approx(50.0));
}

TEST_CASE(
    "read_kernel_log: continuation lines, a caller and words of programs → only the kernel's "
    "own count") {
  TempRoot root;
  const std::string line =
      "DMAR: [DMA Read] Request device [3b:00.0] fault addr 0 [fault reason 6]";
  root.file("/dev/kmsg", "5,0,0,-;" + linux_version + "\n6,1,10,-,caller=T1;" + line +
                             "\n SUBSYSTEM=pci\n DEVICE=+pci:0000:3b:00.0\n 4,9,9,-;" + line +
                             "\n12,2,20,-;" + line + "\nnot a record\n4,3,30,-;" + line);
  const auto log = read_kernel_log(root.system()).value();
  CHECK(log.from_start);
  REQUIRE(log.faults.size() == 1);
  CHECK(log.faults[0].count == 2);
  CHECK(log.faults[0].last.time == Approx(0.00003));
}

TEST_CASE("read_kernel_log: a line longer than any → cut, and the next one is read") {
  const auto log =
      read_lines({linux_version, "iommu: Default domain type: " + std::string(1U << 20U, 'x'),
                  "NVRM: IOMMU mapping failed from GPU1 to GPU0"})
          .value();
  CHECK(log.from_start);
  CHECK(log.default_domain.value().text.size() < 20000);
  CHECK(log.faults.size() == 1);
}

TEST_CASE("read_kernel_log: nothing there, or nothing in it → not found") {
  TempRoot root;
  CHECK(read_kernel_log(root.system()).error().code == Errc::not_found);
  root.file("/dev/kmsg", GENERATE("", "\n", "garbage\n"));
  const auto log = read_kernel_log(root.system());
  REQUIRE_FALSE(log.has_value());
  CHECK(log.error().code == Errc::not_found);
  CHECK(log.error().text().find("/dev/kmsg'") != std::string::npos);
}

TEST_CASE("read_kernel_log: the ring has its beginning → the journal isn't asked") {
  TempRoot root;
  root.file("/dev/kmsg", kmsg({linux_version}));
  FakeSystem system(root.path());
  system.booted = true;
  CHECK(read_kernel_log(system).value().from_start);
  CHECK(system.ran().empty());
}

TEST_CASE("read_kernel_log: the ring has lost its beginning → the journal, if it has it") {
  TempRoot root;
  root.file("/dev/kmsg", kmsg({"usb 1-1: new device"}, 7000));
  FakeSystem system(root.path());
  system.booted = true;
  system.on("journalctl", [&](const Command& command) {
    CHECK(command.argv ==
          std::vector<std::string>{"journalctl", "--boot", "--output=short-monotonic", "--quiet",
                                   "--no-pager", "_TRANSPORT=kernel", "+", "_TRANSPORT=driver"});
    return test::succeeded(journal({linux_version, "iommu: Default domain type: Translated",
                                    "NVRM: Xid (PCI:0000:01:00): 31, pid=1"}) +
                           "[    5.000000] gpuhost systemd[1]: NVRM: Xid (PCI:0000:02:00): 31\n");
  });
  const auto log = read_kernel_log(system).value();
  CHECK(log.source == "the journal of this boot");
  CHECK(log.from_start);
  CHECK(log.default_domain.value().time == Approx(0.1));
  REQUIRE(log.faults.size() == 1);
  CHECK(log.faults[0].bdf == "0000:01:00.0");
}

TEST_CASE(
    "read_kernel_log: journald has missed lines → not from the start; its other words count not") {
  TempRoot root;
  root.file("/dev/kmsg", kmsg({"usb 1-1: new device"}, 7000));
  FakeSystem system(root.path());
  system.booted = true;
  const bool missed = GENERATE(true, false);
  system.on(
      "journalctl",
      test::succeeded("[    0.000001] gpuhost systemd-journald[1]: Runtime Journal is fine\n" +
                      journal({linux_version, "usb 1-1: new device"}) +
                      fmt::format("[    5.000000] gpuhost systemd-journald[1]: {}\n",
                                  missed ? "Missed 12 kernel messages" : "Journal started")));
  const auto log = read_kernel_log(system).value();
  CHECK(log.source == "the journal of this boot");
  CHECK(log.from_start != missed);
}

TEST_CASE("read_kernel_log: numbers that come round to 0 → not from the start") {
  TempRoot root;
  root.file("/dev/kmsg", "6,18446744073709551615,0,-;one\n5,0,0,-;" + linux_version + "\n");
  CHECK_FALSE(read_kernel_log(root.system()).value().from_start);
}

TEST_CASE("read_kernel_log: both have lost their beginning → what reaches back further") {
  TempRoot root;
  FakeSystem system(root.path());
  system.booted = true;
  system.on("journalctl", test::succeeded("[  300.000000] gpuhost kernel: usb 1-1: new device\n"));
  root.file("/dev/kmsg", kmsg({"usb 1-1: new device"}, 7000));
  CHECK(read_kernel_log(system).value().source == "the journal of this boot");
  CHECK(read_kernel_log(system).value().first_time == Approx(300.0));
  root.file("/dev/kmsg", kmsg({"usb 1-1: new device"}, 2000));
  CHECK(read_kernel_log(system).value().source == "/dev/kmsg");
  CHECK_FALSE(read_kernel_log(system).value().from_start);
}

TEST_CASE("read_kernel_log: the journal tells nothing → what the ring has left") {
  TempRoot root;
  root.file("/dev/kmsg", kmsg({"usb 1-1: new device"}, 7000));
  FakeSystem system(root.path());
  system.booted = true;
  system.on("journalctl", GENERATE(test::succeeded(), test::failed(1, "No journal files\n"),
                                   CommandResult{.status = 137,
                                                 .timed_out = true,
                                                 .out = "[ 0.0] h kernel: Linux version 6\n",
                                                 .err = ""}));
  CHECK(read_kernel_log(system).value().source == "/dev/kmsg");
}

TEST_CASE("read_kernel_log: no ring, but a journal → the journal") {
  TempRoot root;
  FakeSystem system(root.path());
  system.booted = true;
  system.on("journalctl", test::succeeded(journal({linux_version})));
  CHECK(read_kernel_log(system).value().from_start);
}

TEST_CASE("extract_kernel_log: read again → the same, and nothing of the rest") {
  std::vector<std::string> lines{linux_version, "usb 1-1: SerialNumber: 4C530001"};
  for (const auto& row : fault_lines)
    lines.push_back(row.line);
  lines.insert(lines.end(), {"iommu: Default domain type: Translated",
                             "dmar_fault: 2474 callbacks suppressed", "usb 1-2: new device"});
  const std::uint64_t first = GENERATE(0, 7000);
  TempRoot root;
  root.file("/dev/kmsg", kmsg(lines, first));
  const auto extract = extract_kernel_log(root.system()).value();
  CHECK(extract.find("usb") == std::string::npos);
  CHECK(extract.find("Linux version") == std::string::npos);

  const auto log = read_kernel_log(root.system()).value();
  TempRoot again;
  again.file("/dev/kmsg", extract);
  const auto other = read_kernel_log(again.system()).value();
  CHECK(other.from_start == (first == 0));
  CHECK(other.first_time == Approx(log.first_time));
  CHECK(other.suppressed == 2474);
  CHECK(other.default_domain->time == Approx(log.default_domain->time));
  REQUIRE(other.faults.size() == log.faults.size());
  for (std::size_t i = 0; i < log.faults.size(); ++i) {
    CHECK(other.faults[i].bdf == log.faults[i].bdf);
    CHECK(other.faults[i].count == log.faults[i].count);
    CHECK(other.faults[i].last.text == log.faults[i].last.text);
    CHECK(other.faults[i].last.time == Approx(log.faults[i].last.time));
  }
}

TEST_CASE("extract_kernel_log: no log → not found, as for reading") {
  TempRoot root;
  CHECK(extract_kernel_log(root.system()).error().code == Errc::not_found);
}

TEST_CASE("read_fault_lines: faults since a time → each line, with its device where it's named") {
  TempRoot root;
  const std::string intel =
      "DMAR: [DMA Write NO_PASID] Request device [3b:00.0] fault addr 0x1000 [fault reason 0x05] "
      "PTE Write access is not set";
  root.file("/dev/kmsg", kmsg({linux_version, intel, "usb 1-1: new device", intel, intel}));
  const auto faults = read_fault_lines(root.system(), 0.25).value();
  REQUIRE(faults.size() == 2);
  CHECK(faults[0].bdf == "0000:3b:00.0");
  CHECK(faults[0].source == Source::intel);
  CHECK(faults[0].line.time == Approx(0.3));
  CHECK(faults[0].line.text == intel);
}

TEST_CASE("read_fault_lines: no log → not found") {
  TempRoot root;
  CHECK(read_fault_lines(root.system(), 0).error().code == Errc::not_found);
}

}  // namespace peerpath::probe
