// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/machine.hpp"

#include "probe/machines.hpp"

namespace peerpath::probe {

using test::TempRoot;

namespace {

std::string processor(const std::string& flags) {
  return "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9654\nflags\t\t: fpu " +
         flags + " svm\n\nprocessor\t: 1\nflags\t\t: hypervisor\n";
}

/// /sys and /proc with nothing in them that isn't on every x86 machine.
void make_bare(TempRoot& root, const std::string& flags = "tsc") {
  root.directory("/sys/class").directory("/proc/sys");
  root.file("/proc/cpuinfo", processor(flags));
  root.file("/proc/cmdline", "root=/dev/sda2 ro\n");
  root.file("/sys/class/dmi/id/sys_vendor", "Supermicro\n");
  root.file("/sys/class/dmi/id/product_name", "SYS-420GP-TNR\n");
  root.file("/proc/sys/kernel/bootloader_type", "114\n");
}

void make_arm64(TempRoot& root) {
  make_bare(root);
  root.file("/proc/cpuinfo",
            "processor\t: 0\nFeatures\t: fp sve\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n");
}

Machine read(TempRoot& root, const Result<KernelConfig>& config = KernelConfig{}) {
  Kernel kernel;
  kernel.config = config;
  return read_machine(root.system(), kernel);
}

}  // namespace

TEST_CASE("read_machine: bare metal → nothing special") {
  TempRoot root;
  make_bare(root);
  const auto machine = read(root);
  CHECK(machine.hypervisor.value() == "none");
  CHECK_FALSE(machine.xen_dom0.value());
  CHECK_FALSE(machine.memory_encryption.value());
  CHECK_FALSE(machine.snp_host.value());
  CHECK(machine.cpu.value() == "AuthenticAMD AMD EPYC 9654");
  CHECK(machine.product.value() == "SYS-420GP-TNR");
  CHECK_FALSE(machine.kexec_loaded.value());
  CHECK_FALSE(machine.booted_by_kexec.value());
}

TEST_CASE("read_machine: firmware's names that can't be read → can't be told, not bare metal") {
  TempRoot root;
  make_bare(root);
  root.remove("/sys/class/dmi/id/sys_vendor");
  root.directory("/sys/class/dmi/id/sys_vendor");
  CHECK_FALSE(read(root).hypervisor.has_value());
}

TEST_CASE("read_machine: recorded machines → bare metal, with their processors") {
  const auto intel = test::machine("intel-identity");
  const auto machine = read_machine(*intel, read_kernel(*intel));
  CHECK(machine.hypervisor.value() == "none");
  CHECK(machine.cpu.value() == "GenuineIntel Intel(R) Xeon(R) Platinum 8480+");
  CHECK_FALSE(machine.memory_encryption.value());
  const auto arm64 = test::machine("arm64-iommu-pt");
  const auto other = read_machine(*arm64, read_kernel(*arm64));
  CHECK(other.hypervisor.value() == "none");
  CHECK(other.cpu.value() == "implementer 0x41 part 0xd0c");
  CHECK_FALSE(other.memory_encryption.value());
  CHECK_FALSE(other.booted_by_kexec.has_value());
}

TEST_CASE("read_machine: hypervisor flag and firmware's name → which virtual machine") {
  struct Row {
    std::string flags;
    std::string vendor;
    std::string product;
    std::string hypervisor;
  };
  const std::vector<Row> rows{
      {"hypervisor", "QEMU", "Standard PC (Q35 + ICH9, 2009)", "qemu"},
      {"hypervisor", "Red Hat", "KVM", "kvm"},
      {"hypervisor", "VMware, Inc.", "VMware7,1", "vmware"},
      {"hypervisor", "Microsoft Corporation", "Virtual Machine", "microsoft"},
      {"hypervisor", "Amazon EC2", "p5.48xlarge", "amazon"},
      {"hypervisor", "Someone", "Something", "vm-other"},
      // The flag hidden from a driver that refuses to run in a virtual machine.
      {"tsc", "QEMU", "Standard PC (Q35 + ICH9, 2009)", "qemu"},
      {"tsc", "Amazon EC2", "g4dn.metal", "none"},
      {"tsc", "Microsoft Corporation", "Surface Studio", "none"},
      {"not_a_hypervisor_flag", "Dell Inc.", "PowerEdge XE9680", "none"},
  };
  for (const auto& row : rows) {
    INFO(row.vendor << " " << row.product);
    TempRoot root;
    make_bare(root, row.flags);
    root.file("/sys/class/dmi/id/sys_vendor", row.vendor + "\n");
    root.file("/sys/class/dmi/id/product_name", row.product + "\n");
    CHECK(read(root).hypervisor.value() == row.hypervisor);
  }
}

TEST_CASE("read_machine: no firmware tables, a hypervisor flag → some virtual machine") {
  TempRoot root;
  make_bare(root, "hypervisor");
  root.remove("/sys/class/dmi");
  CHECK(read(root).hypervisor.value() == "vm-other");
  CHECK(read(root).product.value().empty());
}

TEST_CASE("read_machine: arm64 → the device tree or the firmware tells") {
  TempRoot root;
  make_arm64(root);
  std::string expected = "none";
  SECTION("bare metal") {}
  SECTION("announced by KVM") {
    root.file("/proc/device-tree/hypervisor/compatible", std::string("linux,kvm\0", 10));
    expected = "kvm";
  }
  SECTION("announced by Xen") {
    root.file("/proc/device-tree/hypervisor/compatible",
              std::string("xen,xen-4.17\0xen,xen\0", 21));
    expected = "xen";
  }
  SECTION("announced by another") {
    root.file("/proc/device-tree/hypervisor/compatible", "acme,hypervisor");
    expected = "vm-other";
  }
  SECTION("QEMU's machine") {
    root.file("/proc/device-tree/compatible", std::string("linux,dummy-virt\0", 17));
    expected = "qemu";
  }
  SECTION("firmware's name") {
    root.file("/sys/class/dmi/id/sys_vendor", "QEMU\n");
    expected = "qemu";
  }
  SECTION("part of Amazon's machine") {
    root.file("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
    root.file("/sys/class/dmi/id/product_name", "m7g.large\n");
    expected = "amazon";
  }
  SECTION("all of Amazon's machine") {
    root.file("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
    root.file("/sys/class/dmi/id/product_name", "m7g.metal\n");
  }
  CHECK(read(root).hypervisor.value() == expected);
  CHECK(read(root).cpu.value() == "Arm Neoverse V2");
}

TEST_CASE("read_machine: arm64 with neither tables nor a device tree → can't be told") {
  TempRoot root;
  make_arm64(root);
  root.remove("/sys/class/dmi");
  const auto machine = read(root);
  REQUIRE_FALSE(machine.hypervisor.has_value());
  CHECK(machine.hypervisor.error().text().find("sys_vendor'") != std::string::npos);
}

TEST_CASE("read_machine: Xen → dom0 by its capabilities, or else by its features") {
  TempRoot root;
  make_bare(root);
  root.file("/sys/hypervisor/type", "xen\n");
  SECTION("dom0") {
    root.file("/proc/xen/capabilities", "control_d\n");
    CHECK(read(root).xen_dom0.value());
  }
  SECTION("a guest") {
    root.file("/proc/xen/capabilities", "");
    CHECK_FALSE(read(root).xen_dom0.value());
  }
  SECTION("dom0 without xenfs") {
    root.file("/sys/hypervisor/properties/features", "00002f05\n");
    CHECK(read(root).xen_dom0.value());
  }
  SECTION("a guest without xenfs") {
    root.file("/sys/hypervisor/properties/features", "00002705\n");
    CHECK_FALSE(read(root).xen_dom0.value());
  }
  SECTION("neither") {
    CHECK_FALSE(read(root).xen_dom0.has_value());
  }
  CHECK(read(root).hypervisor.value() == "xen");
}

TEST_CASE("read_machine: memory encryption → by the flag, the last word, the build configuration") {
  struct Row {
    std::string flags;
    std::string words;
    bool built_on;
    bool encrypted;
  };
  const std::vector<Row> rows{
      {"tsc", "mem_encrypt=on", true, false},  // the processor can't, or firmware has it off
      {"sme", "mem_encrypt=on", false, true},
      {"sme", "mem_encrypt=off", true, false},
      {"sme", "mem_encrypt=on mem_encrypt=off", false, false},
      {"sme", "mem_encrypt=yes", true, true},
      {"sme sev", "", true, true},
      {"sme sev", "", false, false},
      {"sev", "mem_encrypt=on", true, false},
      {"hypervisor tdx_guest", "", false, true},
      {"hypervisor", "", true, false},
  };
  for (const auto& row : rows) {
    INFO(row.flags << " '" << row.words << "' " << row.built_on);
    TempRoot root;
    make_bare(root, row.flags);
    root.file("/proc/cmdline", "root=/dev/sda2 " + row.words + "\n");
    KernelConfig config;
    config.memory_encryption_on = row.built_on;
    CHECK(read(root, config).memory_encryption.value() == row.encrypted);
  }
}

TEST_CASE("read_machine: memory encryption that no file tells → an error, not no") {
  TempRoot root;
  SECTION("in a virtual machine") {
    make_bare(root, "hypervisor sev");
    CHECK_FALSE(read(root).memory_encryption.has_value());
    root.file("/sys/devices/system/cpu/sev/vmpl", "0\n");
    CHECK(read(root).memory_encryption.value());
  }
  SECTION("without the build configuration") {
    make_bare(root, "sme");
    CHECK_FALSE(read(root, fail(Errc::not_found, "no config")).memory_encryption.has_value());
  }
  SECTION("without the command line") {
    make_bare(root, "sme");
    root.remove("/proc/cmdline");
    CHECK_FALSE(read(root).memory_encryption.has_value());
  }
}

TEST_CASE("read_machine: host of SEV-SNP guests → by KVM's parameter") {
  TempRoot root;
  make_bare(root);
  root.file("/sys/module/kvm_amd/parameters/sev_snp", "Y\n");
  CHECK(read(root).snp_host.value());
  root.file("/sys/module/kvm_amd/parameters/sev_snp", "N\n");
  CHECK_FALSE(read(root).snp_host.value());
}

TEST_CASE("read_machine: kexec → an image loaded, or this kernel started by it") {
  TempRoot root;
  make_bare(root);
  root.file("/sys/kernel/kexec_loaded", "1\n");
  root.file("/sys/kernel/kexec_crash_loaded", "1\n");
  root.file("/proc/sys/kernel/bootloader_type", "208\n");
  CHECK(read(root).kexec_loaded.value());
  CHECK(read(root).booted_by_kexec.value());
  root.file("/sys/kernel/kexec_loaded", "0\n");
  CHECK_FALSE(read(root).kexec_loaded.value());
  // An extended number (0xe): its low half may be anything.
  root.file("/proc/sys/kernel/bootloader_type", "464\n");
  CHECK_FALSE(read(root).booted_by_kexec.value());
  root.file("/proc/sys/kernel/bootloader_type", "grub\n");
  CHECK_FALSE(read(root).booted_by_kexec.has_value());
}

TEST_CASE("read_machine: nothing there → errors throughout, never a healthy answer") {
  TempRoot root;
  const auto machine = read(root);
  CHECK_FALSE(machine.hypervisor.has_value());
  CHECK_FALSE(machine.xen_dom0.has_value());
  CHECK_FALSE(machine.memory_encryption.has_value());
  CHECK_FALSE(machine.snp_host.has_value());
  CHECK_FALSE(machine.cpu.has_value());
  CHECK_FALSE(machine.product.has_value());
  CHECK_FALSE(machine.kexec_loaded.has_value());
  CHECK_FALSE(machine.booted_by_kexec.has_value());
}

TEST_CASE("read_machine: an empty or binary /proc/cpuinfo → an error that names it") {
  TempRoot root;
  make_bare(root);
  root.file("/proc/cpuinfo", GENERATE(std::string(), std::string(5000, '\0')));
  const auto machine = read(root);
  REQUIRE_FALSE(machine.cpu.has_value());
  CHECK(machine.cpu.error().text().find("/proc/cpuinfo'") != std::string::npos);
  CHECK_FALSE(machine.hypervisor.has_value());
}

TEST_CASE("read_machine: control bytes in firmware's names → not passed on") {
  TempRoot root;
  make_bare(root);
  root.file("/sys/class/dmi/id/product_name", "X\x1b[31m\n");
  CHECK(read(root).product.value() == "X\\x1b[31m");
}

}  // namespace peerpath::probe
