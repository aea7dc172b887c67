// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/sample.hpp"

namespace peerpath::check {

using namespace test;

namespace {

const std::string first = "0000:3b:00.0";
const std::string second = "0000:86:00.0";

Facts two_gpus() {
  return host("iommu=pt", {gpu("identity", first), gpu("identity", second)});
}

Facts with_letters(const std::string& there, const std::string& back) {
  auto facts = two_gpus();
  facts.gpus->peers[{first, second}] = {there, there, "NS", "NS"};
  facts.gpus->peers[{second, first}] = {back, back, "NS", "NS"};
  return facts;
}

Facts with_options(const std::string& dwords) {
  auto facts = two_gpus();
  (*facts.nvidia.parameters)["RegistryDwords"] = dwords;
  return facts;
}

}  // namespace

TEST_CASE("gpu.peer-access: all pairs OK → ok, and says that it's no proof") {
  const auto finding = run_one(gpu_peer_access, two_gpus());
  CHECK(finding.status == Status::ok);
  CHECK(has_evidence(finding, "all 2 ordered pairs"));
  CHECK(has_evidence(finding, "doesn't prove"));
}

TEST_CASE("gpu.peer-access: letters other than OK → warn with their meaning") {
  for (const std::string letters : {"CNS", "GNS", "TNS", "DR", "NS"}) {
    const auto finding = run_one(gpu_peer_access, with_letters(letters, letters));
    CHECK(finding.status == Status::warn);
    CHECK(contains(finding.cause, letters + ","));
    CHECK(has_evidence(finding, "from " + first + " to " + second + ": read " + letters));
    CHECK(has_evidence(finding, "2 of 2 ordered pairs"));
  }
}

TEST_CASE("gpu.peer-access: directions that differ → warn, asymmetric") {
  const auto finding = run_one(gpu_peer_access, with_letters("OK", "CNS"));
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.cause, "asymmetric"));
  CHECK(has_evidence(finding, "2 of 2 ordered pairs"));
}

TEST_CASE("gpu.peer-access: many pairs alike → one finding with at most 16 of them") {
  std::vector<probe::PciDevice> devices;
  for (const char digit : std::string("12345"))
    devices.push_back(gpu("identity", std::string("0000:0") + digit + ":00.0"));
  auto facts = host("iommu=pt", devices);
  for (auto& [pair, peer] : facts.gpus->peers)
    peer.read = "GNS";
  const auto finding = run_one(gpu_peer_access, facts);
  CHECK(has_evidence(finding, "and 4 more pairs"));
  CHECK(finding.evidence.size() == 16 + 3);
}

TEST_CASE("gpu.peer-access: U, letters that nobody knows, or no word of a pair → unknown") {
  CHECK(run_one(gpu_peer_access, with_letters("U", "U")).status == Status::unknown);
  CHECK(run_one(gpu_peer_access, with_letters("XYZ", "XYZ")).status == Status::unknown);
  auto facts = two_gpus();
  facts.gpus->peers.clear();
  CHECK(run_one(gpu_peer_access, facts).status == Status::unknown);
}

TEST_CASE("gpu.peer-access: asked in vain → unknown; a GPU that the driver misses → unknown") {
  for (const auto* check : {&gpu_peer_access, &gpu_partitioning}) {
    auto facts = two_gpus();
    facts.gpus->gpus.pop_back();
    CHECK(run_one(*check, facts).status == Status::unknown);
    facts.gpus = fail(Errc::busy, "no answer from the driver within 20000 ms");
    const auto finding = run_one(*check, facts);
    CHECK(finding.status == Status::unknown);
    CHECK(has_evidence(finding, "within 20000 ms"));
    facts.gpus = fail(Errc::denied, "no");
    CHECK(contains(run_one(*check, facts).remedy, "root"));
    facts.devices = fail(Errc::denied, "no");
    CHECK(run_one(*check, facts).status == Status::unknown);
  }
}

TEST_CASE("gpu.peer-access: no driver, not asked, one GPU or none → not applicable") {
  for (const auto* check : {&gpu_peer_access, &gpu_partitioning}) {
    auto facts = two_gpus();
    facts.gpus = fail(Errc::not_found, "no such library");
    CHECK(run_one(*check, facts).status == Status::not_applicable);
    facts.gpus = fail(Errc::unsupported, "not asked in a recorded tree");
    CHECK(contains(run_one(*check, facts).cause, "recorded tree"));
    CHECK(run_one(*check, facts).status == Status::not_applicable);
    CHECK(run_one(*check, host("", {gpu("DMA")})).status == Status::not_applicable);
    CHECK(run_one(*check, host("", {})).status == Status::not_applicable);
  }
}

TEST_CASE("gpu.partitioning: both off, or not supported → ok") {
  auto facts = two_gpus();
  CHECK(run_one(gpu_partitioning, facts).status == Status::ok);
  facts.gpus->gpus[0].mig = std::nullopt;
  facts.gpus->confidential_computing = std::nullopt;
  CHECK(run_one(gpu_partitioning, facts).status == Status::ok);
}

TEST_CASE("gpu.partitioning: MIG, confidential computing on → warn, one finding each") {
  auto facts = two_gpus();
  facts.gpus->gpus[1].mig = true;
  auto finding = run_one(gpu_partitioning, facts);
  CHECK(finding.status == Status::warn);
  CHECK(contains(finding.remedy, "nvidia-smi -i " + second + " -mig 0"));
  facts.gpus->confidential_computing = true;
  CHECK(run(gpu_partitioning, facts).size() == 2);
}

TEST_CASE("gpu.partitioning: asking failed → unknown; no driver → not applicable") {
  auto facts = two_gpus();
  facts.gpus = fail(Errc::internal, "the driver ended the asking process");
  CHECK(run_one(gpu_partitioning, facts).status == Status::unknown);
  facts.gpus = fail(Errc::not_found, "no such library");
  CHECK(run_one(gpu_partitioning, facts).status == Status::not_applicable);
}

TEST_CASE("gpu.driver-options: none, other keys, or the defaults written out → ok") {
  for (const auto* dwords : {"", "RmMsg=1", "EnableResizableBar=1;", "RMForceP2PType=0x0",
                             "PeerMappingOverride=0", "NotForceP2P=1"}) {
    INFO(dwords);
    CHECK(run_one(gpu_driver_options, with_options(dwords)).status == Status::ok);
  }
}

TEST_CASE("gpu.driver-options: an override → warn naming it") {
  const auto finding =
      run_one(gpu_driver_options, with_options("A=1; ForceP2P = 0x11;RMForceP2PType=1"));
  CHECK(finding.status == Status::warn);
  CHECK(has_evidence(finding, "ForceP2P=0x11 in RegistryDwords"));
  CHECK(has_evidence(finding, "RMForceP2PType=1"));
  CHECK(contains(finding.remedy, "'ForceP2P', 'RMForceP2PType'"));
  auto facts = two_gpus();
  (*facts.nvidia.parameters)["DmaRemapPeerMmio"] = "0";
  CHECK(run_one(gpu_driver_options, facts).status == Status::warn);
  facts = two_gpus();
  (*facts.nvidia.parameters)["GrdmaPciTopoCheckOverride"] = "1";  // GB200 hosts need it
  CHECK(run_one(gpu_driver_options, facts).status == Status::ok);
  facts = two_gpus();
  (*facts.nvidia.parameters)["RegistryDwordsPerDevice"] = "pci=0000:3b:00.0;ForceP2P=0";
  CHECK(run_one(gpu_driver_options, facts).status == Status::warn);
}

TEST_CASE("gpu.driver-options: what can't be read → unknown") {
  auto facts = two_gpus();
  facts.nvidia.parameters->clear();
  CHECK(run_one(gpu_driver_options, facts).status == Status::unknown);
  facts.nvidia.parameters = fail(Errc::denied, "no");
  CHECK(run_one(gpu_driver_options, facts).status == Status::unknown);
  facts.nvidia.version = fail(Errc::denied, "no");
  CHECK(run_one(gpu_driver_options, facts).status == Status::unknown);
  facts.devices = fail(Errc::denied, "no");
  CHECK(run_one(gpu_driver_options, facts).status == Status::unknown);
}

TEST_CASE("gpu.driver-options: no module or no device → not applicable") {
  auto facts = two_gpus();
  facts.nvidia.version = std::optional<std::string>();
  CHECK(run_one(gpu_driver_options, facts).status == Status::not_applicable);
  CHECK(run_one(gpu_driver_options, host("", {})).status == Status::not_applicable);
}

}  // namespace peerpath::check
