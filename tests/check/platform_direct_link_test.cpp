// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/sample.hpp"

namespace peerpath::check {

using namespace test;

namespace {

const std::string a = "0000:3b:00.0";
const std::string b = "0000:5e:00.0";

Facts pair(const std::string& there, const std::string& back) {
  auto facts = host("iommu=pt", {gpu("DMA", a), gpu("DMA", b)});
  GpuStatus gpus;
  gpus.gpus = {{a, std::nullopt, std::nullopt}, {b, std::nullopt, std::nullopt}};
  gpus.peers[{a, b}].nvlink = there;
  gpus.peers[{b, a}].nvlink = back;
  facts.gpus = gpus;
  return facts;
}

Finding run_on(const Facts& facts) {
  return run_one(platform_direct_link, facts);
}

}  // namespace

TEST_CASE("platform.direct-link: NVLink between all pairs → ok, passthrough isn't needed") {
  const auto finding = run_on(pair("OK", "OK"));
  CHECK(finding.status == Status::ok);
  CHECK(has_evidence(finding, "doesn't need passthrough"));
}

TEST_CASE("platform.direct-link: a device that the driver doesn't list → not applicable, named") {
  auto facts = pair("OK", "OK");
  facts.devices->push_back(gpu("DMA", "0000:86:00.0"));
  const auto finding = run_on(facts);
  CHECK(finding.status == Status::not_applicable);
  CHECK(contains(finding.cause, "0000:86:00.0"));
}

TEST_CASE("platform.direct-link: one direction without NVLink → not applicable naming the pair") {
  const auto finding = run_on(pair("OK", "NS"));
  CHECK(finding.status == Status::not_applicable);
  CHECK(contains(finding.cause, b + " to " + a));
}

TEST_CASE("platform.direct-link: a pair that the driver says nothing of → not applicable") {
  auto facts = pair("OK", "OK");
  facts.gpus->peers.erase({a, b});
  CHECK(run_on(facts).status == Status::not_applicable);
  facts.gpus->gpus.resize(1);
  CHECK(run_on(facts).status == Status::not_applicable);
}

TEST_CASE("platform.direct-link: the driver isn't asked → not applicable with the reason") {
  auto facts = host("iommu=pt", {gpu("identity")});
  facts.gpus = fail(Errc::not_found, "no NVIDIA driver");
  const auto finding = run_on(facts);
  CHECK(finding.status == Status::not_applicable);
  CHECK(contains(finding.cause, "no NVIDIA driver"));
}

TEST_CASE("platform.direct-link: Grace by its product or its GPU → not applicable, not asked for") {
  auto facts = host("", {gpu("DMA")});
  facts.kernel.machine = "aarch64";
  SECTION("product") {
    facts.machine.product = "NVIDIA GB200 NVL72";
  }
  SECTION("GPU") {
    facts.devices->front().device = 0x2941;
  }
  const auto finding = run_on(facts);
  CHECK(finding.status == Status::not_applicable);
  CHECK(contains(finding.cause, "doesn't ask for passthrough"));
  facts.kernel.machine = "x86_64";
  CHECK_FALSE(contains(run_on(facts).cause, "doesn't ask for passthrough"));
}

TEST_CASE("platform.direct-link: devices can't be listed → unknown") {
  auto facts = host("", {});
  facts.devices = fail(Errc::denied, "'/sys/bus/pci/devices': permission denied");
  CHECK(run_on(facts).status == Status::unknown);
}

TEST_CASE("platform.direct-link: no device matches → not applicable") {
  CHECK(run_on(host("", {})).status == Status::not_applicable);
}

}  // namespace peerpath::check
