// SPDX-License-Identifier: GPL-2.0-or-later
// The checks of what's between the devices: paths, links, BARs.
#include "check/sample.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::check {

using namespace test;
using probe::Acs;
using probe::PciNode;
using probe::PortType;

namespace {

PciNode node(const std::string& bdf, PortType type, const std::optional<std::string>& parent) {
  PciNode node;
  node.bdf = bdf;
  node.vendor = type == PortType::endpoint ? 0x10de : 0x10b5;
  node.class_code = type == PortType::endpoint ? 0x030200 : 0x060400;
  node.host_bridge = "pci0000:00";
  node.parent = parent;
  node.type = type;
  node.acs = std::optional<Acs>{};
  return node;
}

constexpr auto first = "0000:03:00.0";
constexpr auto second = "0000:04:00.0";
constexpr auto above_first = "0000:02:08.0";
constexpr auto above_second = "0000:02:10.0";
constexpr auto upstream = "0000:01:00.0";
constexpr auto root_port = "0000:00:01.0";

/// Two GPUs behind one switch, whose ports have ACS with these control words.
Facts behind_switch(std::uint16_t first_control, std::uint16_t second_control) {
  auto facts = host("iommu=pt", {gpu("identity", first), gpu("identity", second)});
  auto& nodes = facts.tree->nodes;
  nodes[root_port] = node(root_port, PortType::root_port, std::nullopt);
  nodes[root_port].acs = Acs{0x0f, 0x0d, "ACSCtl"};
  nodes[upstream] = node(upstream, PortType::upstream_port, root_port);
  nodes[above_first] = node(above_first, PortType::downstream_port, upstream);
  nodes[above_first].acs = Acs{0x5f, first_control, "ACSCtl"};
  nodes[above_second] = node(above_second, PortType::downstream_port, upstream);
  nodes[above_second].acs = Acs{0x5f, second_control, "ACSCtl"};
  nodes[first] = node(first, PortType::endpoint, above_first);
  nodes[second] = node(second, PortType::endpoint, above_second);
  facts.tree->devices = {first, second};
  return facts;
}

/// The two on root ports of their own.
Facts on_root_ports(std::uint16_t control) {
  auto facts = behind_switch(control, control);
  auto& nodes = facts.tree->nodes;
  nodes[above_first].parent = std::nullopt;
  nodes[above_second].parent = std::nullopt;
  return facts;
}

Facts with_link(const probe::PciLink& link, const probe::PciLink& above) {
  auto facts = host("iommu=pt", {gpu("identity", first)});
  facts.tree->nodes[above_first] = node(above_first, PortType::downstream_port, std::nullopt);
  facts.tree->nodes[above_first].link = above;
  facts.tree->nodes[first] = node(first, PortType::endpoint, above_first);
  facts.tree->nodes[first].link = link;
  facts.tree->devices = {first};
  return facts;
}

Facts with_bar(std::uint64_t size, const std::optional<std::uint64_t>& memory) {
  auto facts = with_link({16, 16, 16, 16}, {16, 16, 16, 16});
  facts.tree->nodes[first].bars = {{0, 1U << 24U, false, false}, {1, size, true, true}};
  facts.gpus = GpuStatus{};
  facts.gpus->gpus = {{first, std::nullopt, memory}};
  return facts;
}

}  // namespace

TEST_CASE("pcie.acs-redirect: a bridge on the way is missing from the tree → unknown, never ok") {
  auto facts = GENERATE(behind_switch(0, 0), on_root_ports(0));
  facts.tree->nodes[above_first].parent_error = Error{Errc::malformed, "not on its bus"};
  const auto finding = run_one(pcie_acs_redirect, facts);
  CHECK(finding.status == Status::unknown);
  CHECK(has_evidence(finding, "not on its bus"));
}

TEST_CASE("pcie.acs-redirect: source validation and upstream forwarding alone → ok") {
  const auto finding = run_one(pcie_acs_redirect, behind_switch(0x01, 0x51));
  CHECK(finding.status == Status::ok);
  CHECK(has_evidence(finding, "0000:03:00.0 – 0000:04:00.0"));
  CHECK(contains(finding.evidence[0].source, upstream));
}

TEST_CASE("pcie.acs-redirect: each redirect bit at either port → fail with the word to add") {
  for (const std::uint16_t bit : {0x04, 0x08, 0x20}) {
    const auto finding = run_one(pcie_acs_redirect, behind_switch(bit, 0x01));
    CHECK(finding.status == Status::fail);
    CHECK(finding.device == first);
    CHECK(finding.peer == second);
    REQUIRE(finding.evidence.size() == 1);
    CHECK(finding.evidence[0].source == "ACSCtl of 0000:02:08.0");
    CHECK(contains(finding.remedy, "'pci=disable_acs_redir=0000:02:08.0'"));
    CHECK(run_one(pcie_acs_redirect, behind_switch(0x01, bit)).status == Status::fail);
  }
}

TEST_CASE("pcie.acs-redirect: both ports redirect → fail, decoded, quoted, with the price") {
  const auto finding = run_one(pcie_acs_redirect, behind_switch(0x1d, 0x25));
  CHECK(
      has_evidence(finding, "ReqRedir+ CmpltRedir+ EgressCtrl- (0x001d), switch downstream port"));
  CHECK(has_evidence(finding, "ReqRedir+ CmpltRedir- EgressCtrl+ (0x0025)"));
  CHECK(contains(finding.remedy, "'pci=disable_acs_redir=0000:02:08.0;0000:02:10.0'"));
  CHECK(contains(finding.remedy, "quotes in GRUB"));
  CHECK(contains(finding.remedy, "only the last"));
  CHECK(contains(finding.remedy, "VFIO"));
}

TEST_CASE("pcie.acs-redirect: the common bridge or an end redirects → fail") {
  const auto* where = GENERATE(upstream, first, second);
  auto facts = behind_switch(0, 0);
  facts.tree->nodes[where].acs = Acs{0x5f, 0x04, "ACSCtl"};
  const auto finding = run_one(pcie_acs_redirect, facts);
  CHECK(finding.status == Status::fail);
  CHECK(contains(finding.evidence[0].source, where));
}

TEST_CASE("pcie.acs-redirect: only a bridge above the common one redirects → ok") {
  CHECK(run_one(pcie_acs_redirect, behind_switch(0, 0)).status == Status::ok);
}

TEST_CASE("pcie.acs-redirect: no bridge in common → ok whatever ACS says, and evidence says so") {
  auto facts = on_root_ports(0x1d);
  const auto finding = run_one(pcie_acs_redirect, facts);
  CHECK(finding.status == Status::ok);
  CHECK(has_evidence(finding, "through the root complex whatever ACS says"));
  facts.tree->nodes[above_first].acs = fail(Errc::denied, "only root may read it");
  CHECK(run_one(pcie_acs_redirect, facts).status == Status::ok);
}

TEST_CASE("pcie.acs-redirect: a register that can't be read → unknown, never ok") {
  const auto* where = GENERATE(upstream, first, second, above_first, above_second);
  auto facts = behind_switch(0x01, 0x01);
  facts.tree->nodes[where].acs = fail(Errc::denied, "'…/config': only root may read it");
  const auto finding = run_one(pcie_acs_redirect, facts);
  CHECK(finding.status == Status::unknown);
  CHECK(contains(finding.evidence[0].source, where));
  CHECK(has_evidence(finding, "only root"));
  CHECK(finding.remedy == "run 'peerpath verify' as root");
}

TEST_CASE("pcie.acs-redirect: one register can't be read, another redirects → fail") {
  auto facts = behind_switch(0x1d, 0x01);
  facts.tree->nodes[above_second].acs = fail(Errc::unsupported, "no extended space");
  const auto finding = run_one(pcie_acs_redirect, facts);
  CHECK(finding.status == Status::fail);
  CHECK(has_evidence(finding, "no extended space"));
}

TEST_CASE("pcie.acs-redirect: devices that aren't in the tree, or no tree → unknown") {
  auto facts = behind_switch(0, 0);
  facts.tree->nodes.erase(second);
  CHECK(run_one(pcie_acs_redirect, facts).status == Status::unknown);
  facts.tree = fail(Errc::not_found, "'/sys/bus/pci/devices/…': no such file or directory");
  CHECK(run_one(pcie_acs_redirect, facts).status == Status::unknown);
  facts.devices = fail(Errc::not_found, "'/sys/bus/pci/devices': no such file or directory");
  CHECK(run_one(pcie_acs_redirect, facts).status == Status::unknown);
}

TEST_CASE("pcie.acs-redirect: what's above one end isn't known → unknown, never `no bridge`") {
  const auto* top = GENERATE(above_first, above_second);
  auto facts = on_root_ports(0x01);
  facts.tree->nodes[top].parent_error = Error{Errc::not_found, "the bridge above it isn't here"};
  const auto finding = run_one(pcie_acs_redirect, facts);
  CHECK(finding.status == Status::unknown);
  CHECK(has_evidence(finding, "the bridge above it isn't here"));
  CHECK(contains(finding.evidence.back().source, top));
}

TEST_CASE("pcie.acs-redirect: what's above the common bridge isn't known → judged all the same") {
  auto facts = behind_switch(0x01, 0x01);
  facts.tree->nodes[upstream].parent = std::nullopt;
  facts.tree->nodes[upstream].parent_error = Error{Errc::not_found, "not here"};
  CHECK(run_one(pcie_acs_redirect, facts).status == Status::ok);
  facts.tree->nodes[above_first].acs = Acs{0x5f, 0x1d, "ACSCtl"};
  CHECK(run_one(pcie_acs_redirect, facts).status == Status::fail);
}

TEST_CASE("pcie.acs-redirect: fewer than two devices → not applicable") {
  CHECK(run_one(pcie_acs_redirect, host("", {})).status == Status::not_applicable);
  CHECK(run_one(pcie_acs_redirect, host("", {gpu("identity")})).status == Status::not_applicable);
}

TEST_CASE("pcie.acs-redirect: a word that's there already → its devices stay in the new one") {
  auto facts = behind_switch(0x1d, 0x1d);
  facts.command_line =
      "pci=disable_acs_redir=0000:09:00.0 "
      "pci=realloc,disable_acs_redir=0000:02:08.0;pci:10b5:8747\n";
  const auto finding = run_one(pcie_acs_redirect, facts);
  CHECK(
      contains(finding.remedy, "'pci=disable_acs_redir=0000:02:08.0;pci:10b5:8747;0000:02:10.0'"));
  CHECK(contains(finding.remedy, "in place of the one that's there"));
}

TEST_CASE("pcie.acs-redirect: kernels that get the word wrong → another remedy") {
  auto facts = behind_switch(0x1d, 0x1d);
  for (const auto* release :
       {"6.11.0-17-generic", "6.12.0", "6.12.19-amd64", "6.13.7-arch1-1", "6.14.0-15-generic"}) {
    facts.kernel.release = release;
    CHECK(contains(run_one(pcie_acs_redirect, facts).remedy, "this kernel gets that word wrong"));
  }
  for (const auto* release : {"6.1.0-35-amd64", "6.10.9", "6.12.33", "6.17.0", "5.14.0-503.el9"}) {
    facts.kernel.release = release;
    CHECK_FALSE(contains(run_one(pcie_acs_redirect, facts).remedy, "gets that word wrong"));
  }
}

TEST_CASE("pcie.acs-redirect: sixteen GPUs on one clean switch → one ok finding, and short") {
  auto facts = behind_switch(0, 0);
  for (int i = 0; i < 14; ++i) {
    const auto bdf = fmt::format("0000:{:02x}:00.0", 0x10 + i);
    facts.tree->nodes[bdf] = node(bdf, PortType::endpoint, above_first);
    facts.devices->push_back(gpu("identity", bdf));
  }
  const auto finding = run_one(pcie_acs_redirect, facts);
  CHECK(finding.status == Status::ok);
  CHECK(finding.evidence.size() == 2);
  facts.tree->nodes[above_second].acs = Acs{0x5f, 0x1d, "ACSCtl"};
  const auto findings = run(pcie_acs_redirect, facts);
  CHECK(findings.size() == 15 + 1);
  CHECK(findings.back().status == Status::ok);
  for (const auto& bad : findings)
    CHECK((bad.remedy.empty() || bad.remedy == findings.front().remedy));
}

TEST_CASE("pcie.acs-redirect: GPU and NIC → judged; two NICs → not") {
  auto facts = behind_switch(0x1d, 0x1d);
  facts.tree->nodes[second].class_code = 0x020700;
  CHECK(run_one(pcie_acs_redirect, facts).status == Status::fail);
  facts.tree->nodes[first].class_code = 0x020000;
  CHECK(run_one(pcie_acs_redirect, facts).status == Status::not_applicable);
}

TEST_CASE("pcie.acs-override: no such word → ok") {
  const auto* words = GENERATE("iommu=pt", "pci=disable_acs_redir=0000:02:08.0;0000:02:10.0",
                               "pci=realloc,noats pci=config_acs=xx0@0000:02:08.0",
                               "-- pcie_acs_override=downstream", "x.pci=noacs");
  CHECK(run_one(pcie_acs_override, host(words, {gpu("identity")})).status == Status::ok);
}

TEST_CASE("pcie.acs-override: each word that only seems to change ACS → warn naming it") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"pcie_acs_override=downstream,multifunction", "pcie_acs_override=downstream"},
      {"pcie-acs-override=downstream", "pcie-acs-override"},
      {"pci=noacs", "no such option"},
      {"pci=realloc,noacs", "'pci=noacs'"},
      {"pci=disable_acs_redir=0000:01:00.0 pci=disable_acs_redir=0000:02:00.0", "only the last"},
      {"pci=disable_acs_redir=0000:01:00.0,0000:02:00.0", "use ';'"},
  };
  for (const auto& [words, text] : cases) {
    INFO(words);
    const auto finding = run_one(pcie_acs_override, host(words, {gpu("identity")}));
    CHECK(finding.status == Status::warn);
    CHECK(has_evidence(finding, text));
  }
}

TEST_CASE("pcie.acs-override: no command line → unknown") {
  auto facts = host("", {gpu("identity")});
  facts.command_line = fail(Errc::denied, "'/proc/cmdline': permission denied");
  CHECK(run_one(pcie_acs_override, facts).status == Status::unknown);
}

TEST_CASE("pcie.acs-override: no device → not applicable") {
  CHECK(run_one(pcie_acs_override, host("pci=noacs", {})).status == Status::not_applicable);
}

TEST_CASE("pcie.link: all lanes, slow because idle → ok with a note") {
  const auto finding = run_one(pcie_link, with_link({2.5, 16, 32, 16}, {2.5, 16, 32, 16}));
  CHECK(finding.status == Status::ok);
  CHECK(has_evidence(finding, "2.5 GT/s x16 now, 32 GT/s x16 at most; the speed drops"));
}

TEST_CASE("pcie.link: as many lanes as the narrower end has → ok") {
  CHECK(run_one(pcie_link, with_link({16, 8, 16, 16}, {16, 8, 16, 8})).status == Status::ok);
  CHECK(run_one(pcie_link, with_link({16, 8, 16, 8}, {16, 8, 16, 16})).status == Status::ok);
}

TEST_CASE("pcie.link: fewer lanes than both ends have → warn") {
  auto facts = with_link({16, 8, 16, 16}, {16, 8, 16, 16});
  CHECK(run_one(pcie_link, facts).status == Status::warn);
  facts.tree->nodes[above_first].link.reset();
  CHECK(run_one(pcie_link, facts).status == Status::warn);
}

TEST_CASE("pcie.link: fewer lanes, and the port above isn't known → unknown") {
  auto facts = with_link({16, 8, 16, 16}, {16, 16, 16, 16});
  facts.tree->nodes[first].parent = std::nullopt;
  facts.tree->nodes[first].parent_error = Error{Errc::not_found, "not here"};
  CHECK(run_one(pcie_link, facts).status == Status::unknown);
}

TEST_CASE("pcie.link: what can't be read → unknown") {
  auto facts = with_link({0, 0, 16, 16}, {16, 16, 16, 16});
  CHECK(run_one(pcie_link, facts).status == Status::unknown);
  facts.tree->nodes[first].link_error = Error{Errc::denied, "permission denied"};
  CHECK(run_one(pcie_link, facts).status == Status::unknown);
  facts.tree->nodes.clear();
  CHECK(run_one(pcie_link, facts).status == Status::unknown);
  facts.tree = fail(Errc::denied, "permission denied");
  CHECK(run_one(pcie_link, facts).status == Status::unknown);
  facts.devices = fail(Errc::denied, "permission denied");
  CHECK(run_one(pcie_link, facts).status == Status::unknown);
}

TEST_CASE("pcie.link: a device that tells nothing of a link, or no device → not applicable") {
  auto facts = with_link({}, {});
  facts.tree->nodes[first].link.reset();
  CHECK(run_one(pcie_link, facts).status == Status::not_applicable);
  CHECK(run_one(pcie_link, host("", {})).status == Status::not_applicable);
}

TEST_CASE("pcie.bar-size: as large as the memory → ok") {
  const auto finding =
      run_one(pcie_bar_size, with_bar(std::uint64_t{128} << 30U, std::uint64_t{80} << 30U));
  CHECK(finding.status == Status::ok);
  CHECK(has_evidence(finding, "BAR 1: 128 GiB"));
  CHECK(has_evidence(finding, "memory: 80 GiB"));
}

TEST_CASE("pcie.bar-size: smaller than the memory, or none → warn") {
  auto facts = with_bar(256U << 20U, std::uint64_t{24} << 30U);
  const auto finding = run_one(pcie_bar_size, facts);
  CHECK(finding.status == Status::warn);
  CHECK(has_evidence(finding, "BAR 1: 256 MiB"));
  facts.tree->nodes[first].bars.clear();
  CHECK(run_one(pcie_bar_size, facts).status == Status::warn);
}

TEST_CASE("pcie.bar-size: the BARs can't be read → unknown") {
  auto facts = with_bar(256U << 20U, std::uint64_t{24} << 30U);
  facts.tree->nodes[first].bars_error = Error{Errc::denied, "permission denied"};
  CHECK(run_one(pcie_bar_size, facts).status == Status::unknown);
  facts.tree = fail(Errc::denied, "permission denied");
  CHECK(run_one(pcie_bar_size, facts).status == Status::unknown);
  facts.devices = fail(Errc::denied, "permission denied");
  CHECK(run_one(pcie_bar_size, facts).status == Status::unknown);
}

TEST_CASE("pcie.bar-size: the memory's size isn't known → not applicable, with the BAR") {
  auto facts = with_bar(256U << 20U, std::nullopt);
  CHECK(run_one(pcie_bar_size, facts).status == Status::not_applicable);
  facts.gpus = fail(Errc::not_found, "no NVIDIA driver");
  const auto finding = run_one(pcie_bar_size, facts);
  CHECK(finding.status == Status::not_applicable);
  CHECK(has_evidence(finding, "BAR 1: 256 MiB"));
  CHECK(contains(finding.cause, "no NVIDIA driver"));
  CHECK(run_one(pcie_bar_size, host("", {})).status == Status::not_applicable);
}

}  // namespace peerpath::check
