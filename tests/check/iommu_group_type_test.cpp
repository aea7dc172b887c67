// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/sample.hpp"

namespace peerpath::check {

using namespace test;

namespace {

struct Row {
  std::optional<std::string> type;  ///< nothing: no group
  Status status;
};

}  // namespace

TEST_CASE("iommu.group-type: each type that a group can have → the verdict rule") {
  // A passing command line must not help, nor a failing one harm.
  const std::string words = GENERATE("iommu=pt", "iommu=nopt", "");
  const std::vector<Row> rule{
      {std::nullopt, Status::ok},        {"identity", Status::ok}, {"DMA", Status::fail},
      {"DMA-FQ", Status::fail},          {"auto", Status::fail},   {"blocked", Status::fail},
      {"unmanaged", Status::fail},       {"", Status::fail},       {"Identity", Status::fail},
      {"identity-mapped", Status::fail}, {"dma", Status::fail},    {"unknown", Status::unknown},
  };
  for (const auto& row : rule) {
    INFO(row.type.value_or("no group") << " with '" << words << "'");
    const auto finding = run_one(iommu_group_type, host(words, {gpu(row.type)}));
    CHECK(finding.status == row.status);
    CHECK(finding.device == "0000:3b:00.0");
  }
}

TEST_CASE("iommu.group-type: several devices → one finding each, in their order") {
  const auto findings = run(
      iommu_group_type,
      host("iommu=pt", {gpu("identity"), gpu("DMA", "0000:5e:00.0"), untold_gpu("0000:86:00.0")}));
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].status == Status::ok);
  CHECK(findings[1].status == Status::fail);
  CHECK(findings[1].device == "0000:5e:00.0");
  CHECK(findings[2].status == Status::unknown);
}

TEST_CASE("iommu.group-type: identity → ok, with the type and where it's written") {
  const auto finding = run_one(iommu_group_type, host("", {gpu("identity")}));
  REQUIRE(finding.evidence.size() == 1);
  CHECK(finding.evidence[0].source == "/sys/bus/pci/devices/0000:3b:00.0/iommu_group/type");
  CHECK(finding.evidence[0].observed == "identity");
  CHECK(finding.evidence[0].expected == "identity, or no group");
}

TEST_CASE("iommu.group-type: no group → ok, and said not to be passthrough") {
  const auto finding = run_one(iommu_group_type, host_without_iommu("iommu=pt"));
  CHECK(finding.status == Status::ok);
  CHECK(has_evidence(finding, "NO-IOMMU"));
  CHECK(has_evidence(finding, "tables of an IOMMU: none"));
}

TEST_CASE("iommu.group-type: no group on a machine with units → ok, with the units as evidence") {
  const auto finding = run_one(iommu_group_type, host("", {gpu(std::nullopt)}));
  CHECK(finding.status == Status::ok);
  CHECK(has_evidence(finding, "dmar0"));
}

TEST_CASE("iommu.group-type: bound to vfio-pci → a note that the type isn't the one in use") {
  auto device = gpu(GENERATE("identity", "DMA"));
  device.driver = "vfio-pci";
  const auto finding = run_one(iommu_group_type, host("iommu=pt", {device}));
  CHECK(finding.status == (device.group_type == "identity" ? Status::ok : Status::fail));
  CHECK(has_evidence(finding, "vfio-pci: given to a virtual machine"));
}

TEST_CASE("iommu.group-type: translated, a word asks for it → fail naming the word") {
  const auto finding =
      run_one(iommu_group_type, host("iommu=pt iommu.passthrough=0", {gpu("DMA-FQ")}));
  CHECK(finding.status == Status::fail);
  CHECK(finding.cause == "'iommu.passthrough=0' on the kernel command line asks for translation");
  CHECK(finding.remedy ==
        "take 'iommu.passthrough=0' off the kernel command line, run 'peerpath ensure', then "
        "reboot");
}

TEST_CASE("iommu.group-type: translated, nothing asks → fail naming the build configuration") {
  const auto finding = run_one(iommu_group_type, host("quiet", {gpu("DMA-FQ")}));
  CHECK(finding.cause ==
        "nothing on the kernel command line asks for passthrough and this kernel's default is "
        "translation (CONFIG_IOMMU_DEFAULT_PASSTHROUGH isn't set in "
        "'/boot/config-6.8.0-60-generic')");
  CHECK(finding.remedy == "run 'peerpath ensure', then reboot");
}

TEST_CASE("iommu.group-type: translated, nothing asks, no build configuration → fail") {
  auto facts = host("quiet", {gpu("DMA-FQ")});
  facts.kernel.config = fail(Errc::not_found, "'/boot/config-6.8.0-60-generic': missing");
  const auto finding = run_one(iommu_group_type, facts);
  CHECK(finding.status == Status::fail);
  CHECK(finding.cause ==
        "nothing on the kernel command line asks for passthrough, so the kernel's default applies");
}

TEST_CASE("iommu.group-type: translated though the default is passthrough → fail, and says so") {
  auto facts = host("quiet", {gpu("DMA-FQ")});
  facts.kernel.config->default_domain = probe::KernelConfig::Default::passthrough;
  const auto finding = run_one(iommu_group_type, facts);
  CHECK(finding.status == Status::fail);
  CHECK(contains(finding.cause, "memory encryption, an untrusted port or a driver"));
}

TEST_CASE("iommu.group-type: memory encryption resets the default → fail naming it") {
  auto facts = host("quiet", {gpu("DMA-FQ")});
  facts.kernel.config->default_domain = probe::KernelConfig::Default::passthrough;
  const std::string line = "Memory encryption detected - Disabling default IOMMU Passthrough";
  SECTION("by the kernel log") {
    facts.log->memory_encryption = probe::LogLine{0.5, line};
    CHECK(contains(run_one(iommu_group_type, facts).cause, line));
  }
  SECTION("by the processor and the command line") {
    facts.machine.memory_encryption = true;
    CHECK(contains(run_one(iommu_group_type, facts).cause, "/proc/cpuinfo"));
  }
  const auto finding = run_one(iommu_group_type, facts);
  CHECK(finding.status == Status::fail);
  CHECK_FALSE(contains(finding.cause, "untrusted"));
}

TEST_CASE("iommu.group-type: translated, a word is misspelt → fail naming it and why") {
  const auto finding = run_one(iommu_group_type, host("intel_iommu=pt", {gpu("DMA-FQ")}));
  CHECK(contains(finding.cause, "'intel_iommu=pt' isn't in force: "));
}

TEST_CASE("iommu.group-type: translated though `iommu=pt` is in force → fail, see the conflict") {
  const auto finding = run_one(iommu_group_type, host("iommu=pt", {gpu("DMA")}));
  CHECK(contains(finding.cause, "'iommu=pt' is in force"));
  CHECK(finding.remedy == "do what cmdline.conflict's remedy says");
}

TEST_CASE("iommu.group-type: translated and no command line → fail all the same") {
  auto facts = host("", {gpu("DMA")});
  facts.command_line = fail(Errc::denied, "'/proc/cmdline': permission denied");
  const auto finding = run_one(iommu_group_type, facts);
  CHECK(finding.status == Status::fail);
  CHECK(contains(finding.cause, "'/proc/cmdline': permission denied"));
}

TEST_CASE("iommu.group-type: arm64 → the remedy is the word that arm64 knows") {
  auto facts = host("iommu=pt", {gpu("DMA")});
  facts.kernel.machine = "aarch64";
  const auto finding = run_one(iommu_group_type, facts);
  CHECK(contains(finding.cause, "'iommu=pt' isn't in force"));
  CHECK(contains(finding.remedy, "'iommu.passthrough=1'"));
  CHECK_FALSE(contains(finding.remedy, "peerpath ensure"));
}

TEST_CASE("iommu.group-type: no type file → unknown, with the command line as a weak hint") {
  const auto finding = run_one(iommu_group_type, host("iommu=pt", {untold_gpu()}));
  CHECK(finding.status == Status::unknown);
  CHECK(contains(finding.cause, "iommu_group/type': no such file"));
  CHECK(has_evidence(finding, "'iommu=pt': passthrough (low confidence"));
  CHECK(has_evidence(finding, "dmar0"));
  CHECK(contains(finding.remedy, "RHEL 8.3"));
}

TEST_CASE("iommu.group-type: a type that can't be read → unknown, and no advice on kernels") {
  auto device = gpu("identity");
  device.group_type = fail(Errc::denied, "'/sys/…/type': permission denied");
  const auto finding = run_one(iommu_group_type, host("iommu=pt", {device}));
  CHECK(finding.status == Status::unknown);
  CHECK(contains(finding.remedy, "can't be read"));
}

TEST_CASE("iommu.group-type: a function that can't be read, without a group → unknown") {
  auto device = gpu(std::nullopt);
  device.group_type = fail(Errc::not_found, "'/sys/…/class': no such file or directory");
  const auto finding = run_one(iommu_group_type, host("iommu=pt", {device}));
  CHECK(finding.status == Status::unknown);
  CHECK(contains(finding.cause, "class'"));
  CHECK(contains(finding.remedy, "can't be read"));
}

TEST_CASE("iommu.group-type: no device matches → not applicable, naming the list") {
  const auto finding = run_one(iommu_group_type, host("iommu=pt", {}));
  CHECK(finding.status == Status::not_applicable);
  CHECK(finding.evidence[0].expected == "10de:*:0300 10de:*:0302");
  CHECK_FALSE(finding.device.has_value());
}

TEST_CASE("iommu.group-type: devices can't be listed → unknown, naming the file") {
  auto facts = host("iommu=pt", {});
  facts.devices = fail(Errc::not_found, "'/sys/bus/pci/devices': no such file or directory");
  const auto finding = run_one(iommu_group_type, facts);
  CHECK(finding.status == Status::unknown);
  CHECK(contains(finding.cause, "'/sys/bus/pci/devices'"));
}

}  // namespace peerpath::check
