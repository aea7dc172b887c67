// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/topology.hpp"

#include "report/verify_report.hpp"
#include "support/catch.hpp"
#include "support/json_schema.hpp"

#include <nlohmann/json.hpp>

using namespace peerpath;
using check::Translation;
using probe::Acs;
using probe::PortType;

namespace {

probe::PciNode node(const std::string& bdf, PortType type,
                    const std::optional<std::string>& parent = {},
                    const std::string& bus = "pci0000:00") {
  probe::PciNode made;
  made.bdf = bdf;
  made.vendor = 0x10de;
  made.device = 0x2330;
  made.host_bridge = bus;
  made.parent = parent;
  made.type = type;
  made.acs = std::optional<Acs>();
  return made;
}

probe::PciDevice device(const std::string& bdf, const std::string& group_type) {
  probe::PciDevice made;
  made.bdf = bdf;
  made.group = "7";
  made.group_type = group_type;
  return made;
}

check::Facts facts_of(const std::vector<probe::PciNode>& nodes,
                      const std::vector<probe::PciDevice>& devices) {
  check::Facts facts;
  probe::PciTree tree;
  for (const auto& each : nodes)
    tree.nodes.emplace(each.bdf, each);
  for (const auto& each : devices)
    tree.devices.push_back(each.bdf);
  facts.tree = tree;
  facts.devices = devices;
  return facts;
}

/// A GPU below a root port.
check::Facts small_machine() {
  return facts_of({node("0000:00:01.0", PortType::root_port),
                   node("0000:01:00.0", PortType::endpoint, "0000:00:01.0")},
                  {device("0000:01:00.0", "DMA-FQ")});
}

std::vector<std::string> addresses(const report::Topology& topology) {
  std::vector<std::string> bdfs;
  for (const auto& shown : topology)
    bdfs.push_back(shown.bdf);
  return bdfs;
}

}  // namespace

TEST_CASE("topology_of: a GPU below a root port → both, the GPU with its mode") {
  auto facts = small_machine();
  auto& gpu = facts.tree->nodes.at("0000:01:00.0");
  gpu.name = "NVIDIA Corporation GH100";
  gpu.numa_node = 1;
  gpu.link = probe::PciLink{16, 8, 32, 16};
  const auto topology = cli::topology_of(facts);
  REQUIRE(topology.size() == 2);
  CHECK(topology[0].kind == "root-port");
  CHECK(topology[0].name == "10de:2330");
  CHECK_FALSE(topology[0].parent);
  CHECK_FALSE(topology[0].iommu);
  CHECK_FALSE(topology[0].acs);
  CHECK_FALSE(topology[0].link);
  CHECK(topology[1].parent == "0000:00:01.0");
  CHECK(topology[1].kind == "endpoint");
  CHECK(topology[1].name == "NVIDIA Corporation GH100");
  CHECK(topology[1].numa_node == 1);
  REQUIRE(topology[1].iommu);
  CHECK(topology[1].iommu->mode == Translation::translated);
  CHECK(topology[1].iommu->detail == "DMA-FQ");
  REQUIRE(topology[1].link);
  CHECK(topology[1].link->speed == 16);
  CHECK(topology[1].link->width == 8);
  CHECK(topology[1].link->max_speed == 32);
  CHECK(topology[1].link->max_width == 16);
}

TEST_CASE("topology_of: ACS read, absent or unreadable → each told apart") {
  auto facts = small_machine();
  auto& port = facts.tree->nodes.at("0000:00:01.0");
  port.acs =
      Acs{0x7f, Acs::source_validation | Acs::request_redirect | Acs::egress_control, "ACSCtl"};
  auto acs = cli::topology_of(facts)[0].acs;
  REQUIRE(acs);
  CHECK(acs->known);
  CHECK(acs->redirects == std::vector<std::string>{"ReqRedir", "EgressCtrl"});
  CHECK(acs->detail == "ACSCtl");
  port.acs = Acs{0x7f, Acs::completion_redirect, "ACSCtl"};
  CHECK(cli::topology_of(facts)[0].acs->redirects == std::vector<std::string>{"CmpltRedir"});
  port.acs = fail(Errc::denied, "permission denied");
  acs = cli::topology_of(facts)[0].acs;
  REQUIRE(acs);
  CHECK_FALSE(acs->known);
  CHECK(acs->detail == "permission denied");
}

TEST_CASE("topology_of: what can't be read → unknown, never identity") {
  auto facts = small_machine();
  facts.tree->nodes.at("0000:01:00.0").type = fail(Errc::denied, "permission denied");
  (*facts.devices)[0].group_type = fail(Errc::denied, "permission denied");
  CHECK(cli::topology_of(facts)[1].kind == "unknown");
  CHECK(cli::topology_of(facts)[1].iommu->mode == Translation::unknown);
  CHECK(cli::topology_of(facts)[1].iommu->detail == "permission denied");
  facts.devices = fail(Errc::denied, "permission denied");
  CHECK(cli::topology_of(facts)[1].iommu->mode == Translation::unknown);
  facts.tree->nodes.at("0000:01:00.0").numa_node = -1;
  CHECK_FALSE(cli::topology_of(facts)[1].numa_node);
  facts.tree = fail(Errc::denied, "permission denied");
  CHECK(cli::topology_of(facts).empty());
}

TEST_CASE("topology_of: several host bridges and domains → by address, parents first") {
  const auto facts = facts_of(
      {node("0000:80:01.0", PortType::root_port, {}, "pci0000:80"),
       node("0000:81:00.0", PortType::endpoint, "0000:80:01.0", "pci0000:80"),
       node("0000:00:02.0", PortType::root_port), node("0000:00:01.0", PortType::root_port),
       node("0000:05:00.0", PortType::endpoint, "0000:00:01.0"),
       node("0000:01:00.0", PortType::endpoint, "0000:00:02.0"),
       node("10000:e0:00.0", PortType::endpoint, {}, "pci10000:e0"),
       node("ffff:00:00.0", PortType::endpoint, "0000:77:00.0", "pciffff:00")},
      {});
  const auto topology = cli::topology_of(facts);
  CHECK(addresses(topology) ==
        std::vector<std::string>{"0000:00:01.0", "0000:05:00.0", "0000:00:02.0", "0000:01:00.0",
                                 "0000:80:01.0", "0000:81:00.0", "ffff:00:00.0", "10000:e0:00.0"});
  CHECK_FALSE(topology[6].parent);  // a bridge that the tree doesn't have
}

TEST_CASE("topology_of: every port type → a report as the schema says, read back the same") {
  report::VerifyReport report;
  for (const auto type :
       {PortType::endpoint, PortType::root_port, PortType::upstream_port, PortType::downstream_port,
        PortType::pcie_to_pci, PortType::pci_to_pcie, PortType::conventional}) {
    auto facts = small_machine();
    facts.tree->nodes.at("0000:00:01.0").type = type;
    facts.tree->nodes.at("0000:00:01.0").acs = Acs{0x2c, Acs::redirect, "ACSCtl"};
    report.topology = cli::topology_of(facts);
    const auto text = report::to_json(report);
    CHECK(JsonSchema::shipped("verify").flaws(nlohmann::json::parse(text)).empty());
    const auto read = report::parse_report(text, "f");
    REQUIRE(read.has_value());
    CHECK(report::to_json(*read) == text);
  }
}
