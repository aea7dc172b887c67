// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/sample_report.hpp"
#include "report/tree_text.hpp"
#include "support/catch.hpp"

#include <fmt/format.h>

#include <sstream>

using namespace peerpath;
using namespace peerpath::report;
using check::Translation;

namespace {

constexpr TextStyle unicode{.unicode = true};
constexpr TextStyle coloured{.colour = true};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::size_t longest_line(const std::string& text) {
  std::istringstream in(text);
  std::string line;
  std::size_t longest = 0;
  while (std::getline(in, line))
    longest = std::max(longest, line.size());
  return longest;
}

/// A device alone on a root bus.
TopologyNode device(Translation mode, const std::string& detail = "") {
  return {.bdf = "0000:01:00.0",
          .host_bridge = "pci0000:00",
          .kind = "endpoint",
          .name = "10de:2330",
          .iommu = TopologyNode::Iommu{mode, detail}};
}

/// `switches` switches below root ports of two host bridges, with `gpus` GPUs in turn.
Topology server(int switches, int gpus) {
  Topology nodes;
  for (int s = 0; s < switches; ++s) {
    const auto bus = fmt::format("pci0000:{:02x}", s * 16);
    const auto root = fmt::format("0000:{:02x}:01.0", s * 16);
    const auto up = fmt::format("0000:{:02x}:00.0", s * 16 + 1);
    nodes.push_back({.bdf = root, .host_bridge = bus, .kind = "root-port"});
    nodes.push_back(
        {.bdf = up, .host_bridge = bus, .parent = root, .kind = "switch-upstream-port"});
    for (int g = s; g < gpus; g += switches) {
      const auto down = fmt::format("0000:{:02x}:{:02x}.0", s * 16 + 2, g / switches);
      nodes.push_back({.bdf = down,
                       .host_bridge = bus,
                       .parent = up,
                       .kind = "switch-downstream-port",
                       .acs = TopologyNode::Acs{true, {"ReqRedir", "CmpltRedir"}, "ACSCtl"}});
      auto gpu = device(Translation::translated, "DMA-FQ");
      gpu.bdf = fmt::format("0000:{:02x}:00.0", s * 16 + 3 + g / switches);
      gpu.host_bridge = bus;
      gpu.parent = down;
      gpu.name = "NVIDIA Corporation GB202GL [RTX PRO 6000 Blackwell Server Edition]";
      gpu.link = TopologyNode::Link{32, 16, 32, 16};
      nodes.push_back(gpu);
    }
  }
  return nodes;
}

}  // namespace

TEST_CASE("tree_text: two GPUs on a switch → root bus, bridges and GPUs below each other") {
  CHECK(tree_text(sample_topology(), unicode) ==
        "pci0000:3a  NUMA node 0\n"
        "└─ 0000:3a:01.0  root port\n"
        "   └─ 0000:3b:00.0  switch upstream port\n"
        "      ├─ 0000:3c:00.0  switch downstream port  no ACS redirect\n"
        "      │  └─ 0000:3d:00.0  identity  32 GT/s x16  NVIDIA Corporation GH100 [H100…\n"
        "      └─ 0000:3c:01.0  switch downstream port  ACS redirect: ReqRedir CmpltRedir\n"
        "         └─ 0000:3e:00.0  DMA-FQ  2.5 GT/s x8 of x16  NVIDIA Corporation GH100 …\n");
}

TEST_CASE("tree_text: a terminal without UTF-8 → ASCII lines") {
  const auto text = tree_text(sample_topology(), {});
  CHECK(contains(text, "      |- 0000:3c:00.0  switch downstream port"));
  CHECK(contains(
      text, "      |  `- 0000:3d:00.0  identity  32 GT/s x16  NVIDIA Corporation GH100 [H1..."));
  for (const char c : text)
    CHECK((c == '\n' || (c >= 0x20 && c < 0x7f)));
}

TEST_CASE("tree_text: colour → good, bad and unknown, on bridges between two devices only") {
  auto nodes = sample_topology();
  nodes[0].acs = TopologyNode::Acs{true, {"ReqRedir"}, "ACSCtl"};
  nodes[1].acs = TopologyNode::Acs{false, {}, "permission denied"};
  const auto text = tree_text(nodes, coloured);
  CHECK(contains(text, "\033[32midentity\033[0m"));
  CHECK(contains(text, "\033[1;31mDMA-FQ\033[0m"));
  CHECK(contains(text, "\033[32mno ACS redirect\033[0m"));
  CHECK(contains(text, "\033[1;31mACS redirect: ReqRedir CmpltRedir\033[0m"));
  // The root port is above the bridge that both share; the switch's upstream port is that bridge.
  CHECK(contains(text, "root port  ACS redirect: ReqRedir\n"));
  CHECK(contains(text, "\033[1;35mACS unknown\033[0m"));
  CHECK_FALSE(contains(tree_text(nodes, {}), "\033"));
}

TEST_CASE("tree_text: a device alone → nothing is on a path between two") {
  auto nodes = sample_topology();
  nodes.resize(4);
  nodes[0].acs = TopologyNode::Acs{true, {"ReqRedir"}, "ACSCtl"};
  const auto text = tree_text(nodes, coloured);
  CHECK(contains(text, "root port  ACS redirect: ReqRedir\n"));
  CHECK(contains(text, "switch downstream port  no ACS redirect\n"));
}

TEST_CASE("tree_text: each IOMMU mode → its words and colour") {
  const auto shown = [](Translation mode, const std::string& detail = "") {
    return tree_text({device(mode, detail)}, coloured);
  };
  CHECK(contains(shown(Translation::no_iommu), "\033[32mno IOMMU\033[0m  10de:2330\n"));
  CHECK(contains(shown(Translation::identity), "\033[32midentity\033[0m"));
  CHECK(contains(shown(Translation::translated, "DMA"), "\033[1;31mDMA\033[0m"));
  CHECK(contains(shown(Translation::unusable, "blocked"), "\033[1;31mblocked\033[0m"));
  CHECK(contains(shown(Translation::unusable), "\033[1;31munusable\033[0m"));
  CHECK(contains(shown(Translation::unknown, "why"), "\033[1;35mIOMMU mode unknown\033[0m"));
}

TEST_CASE("tree_text: no nodes → nothing") {
  CHECK(tree_text({}, unicode).empty());
}

TEST_CASE("tree_text: a parent that isn't there → shown under its host bridge all the same") {
  auto nodes = sample_topology();
  nodes.erase(nodes.begin());
  CHECK(contains(tree_text(nodes, unicode), "pci0000:3a  NUMA node 0\n└─ 0000:3b:00.0"));
}

TEST_CASE("tree_text: several NUMA nodes, or none → said so, or not at all") {
  auto nodes = sample_topology();
  nodes[5].numa_node = 1;
  CHECK(contains(tree_text(nodes, {}), "pci0000:3a  NUMA nodes 0, 1\n"));
  nodes[3].numa_node = nodes[5].numa_node = std::nullopt;
  CHECK(contains(tree_text(nodes, {}), "pci0000:3a\n"));
}

TEST_CASE("tree_text: control bytes from outside → never reach the terminal") {
  const std::string evil = "x\033]0;y\007\n\xff";
  auto nodes = sample_topology();
  for (auto& node : nodes) {
    node.bdf += evil;
    if (node.parent) *node.parent += evil;
    node.host_bridge = node.kind = node.name = evil;
    if (node.iommu) node.iommu->detail = evil;
    if (node.acs) node.acs->redirects = {evil};
  }
  for (const char c : tree_text(nodes, {.width = 400}))
    CHECK((c == '\n' || (c >= 0x20 && c < 0x7f)));
}

TEST_CASE("tree_text: 16 GPUs on 10 switches → a line each, none longer than 80 columns") {
  const auto text = tree_text(server(10, 16), {});
  CHECK(std::count(text.begin(), text.end(), '\n') == 10 * 3 + 16 * 2);
  CHECK(longest_line(text) <= 80);
}

TEST_CASE("tree_text: a narrow terminal → the name goes, the mode stays") {
  const auto text = tree_text(sample_topology(), {.width = 20});
  CHECK(contains(text, "0000:3d:00.0  identity  32 GT/s x16\n"));
}
