// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/link_graph.hpp"

#include "support/catch.hpp"

#include <fmt/format.h>

using namespace peerpath;
using cli::link_capacity;
using gpu::Nearness;
using probe::PortType;

namespace {

class Machine {
 public:
  /// Adds a function below another; "" puts it on the root bus.
  Machine& add(const std::string& bdf, PortType type, const std::string& parent,
               const std::string& bus, int numa = -1) {
    probe::PciNode node;
    node.bdf = bdf;
    node.host_bridge = bus;
    if (!parent.empty()) node.parent = parent;
    node.type = type;
    node.acs = std::optional<probe::Acs>();
    node.link = probe::PciLink{2.5, 16, 32, 16};
    if (numa >= 0) node.numa_node = numa;
    tree_.nodes.emplace(bdf, node);
    if (type == PortType::endpoint) tree_.devices.push_back(bdf);
    return *this;
  }
  probe::PciNode& at(const std::string& bdf) { return tree_.nodes.at(bdf); }
  /// As somebody who isn't root sees it.
  Machine& hide_types() {
    for (auto& [bdf, node] : tree_.nodes)
      node.type = fail(Errc::denied, "permission denied");
    return *this;
  }
  Machine& nvlink(const std::string& from, const std::string& to) {
    check::GpuStatus status;
    status.peers[{from, to}] = {"OK", "OK", "OK", "OK"};
    gpus_ = status;
    return *this;
  }
  [[nodiscard]] gpu::LinkGraph graph() const {
    check::Facts facts;
    facts.tree = tree_;
    facts.gpus = gpus_;
    return cli::link_graph(facts, tree_.devices);
  }

 private:
  probe::PciTree tree_;
  Result<check::GpuStatus> gpus_ = fail(Errc::not_found, "no driver");
};

constexpr auto gpu_a = "0000:04:00.0";
constexpr auto gpu_b = "0000:05:00.0";
constexpr auto gpu_far = "0000:82:00.0";
constexpr auto gpu_port = "0000:41:00.0";

/// Two GPUs below a switch, one below another root port's host bridge of the same socket, and one
/// on the other socket.
Machine server() {
  Machine machine;
  machine.add("0000:01:01.0", PortType::root_port, "", "pci0000:01", 0)
      .add("0000:02:00.0", PortType::upstream_port, "0000:01:01.0", "pci0000:01", 0)
      .add("0000:03:04.0", PortType::downstream_port, "0000:02:00.0", "pci0000:01", 0)
      .add("0000:03:05.0", PortType::downstream_port, "0000:02:00.0", "pci0000:01", 0)
      .add(gpu_a, PortType::endpoint, "0000:03:04.0", "pci0000:01", 0)
      .add(gpu_b, PortType::endpoint, "0000:03:05.0", "pci0000:01", 0)
      .add("0000:40:01.0", PortType::root_port, "", "pci0000:40", 0)
      .add(gpu_port, PortType::endpoint, "0000:40:01.0", "pci0000:40", 0)
      .add("0000:81:01.0", PortType::root_port, "", "pci0000:81", 1)
      .add(gpu_far, PortType::endpoint, "0000:81:01.0", "pci0000:81", 1);
  return machine;
}

std::vector<std::string> links(const gpu::LinkGraph& graph, const std::string& from,
                               const std::string& to) {
  std::vector<std::string> names;
  for (const auto link : graph.path(from, to).links)
    names.push_back(graph.links.at(link).name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("link_capacity: generations and widths → bytes a second by their encodings") {
  CHECK(link_capacity(2.5, 16) == Approx(4e9));
  CHECK(link_capacity(5, 1) == Approx(0.5e9));
  CHECK(link_capacity(8, 16) == Approx(15.754e9).epsilon(0.001));
  CHECK(link_capacity(16, 16) == Approx(31.508e9).epsilon(0.001));
  CHECK(link_capacity(32, 16) == Approx(63.015e9).epsilon(0.001));
  CHECK(link_capacity(64, 16) == Approx(121e9).epsilon(0.001));
  CHECK(link_capacity(0, 16) == 0);
  CHECK(link_capacity(16, 0) == 0);
}

TEST_CASE("link_graph: two GPUs below a switch → up one link and down the other, no more") {
  const auto graph = server().graph();
  CHECK(links(graph, gpu_a, gpu_b) == Names{"0000:04:00.0 up", "0000:05:00.0 down"});
  CHECK(links(graph, gpu_b, gpu_a) == Names{"0000:05:00.0 up", "0000:04:00.0 down"});
  const auto path = graph.path(gpu_a, gpu_b);
  CHECK(path.nearness == Nearness::one_switch);
  CHECK(path.ceiling == Approx(link_capacity(32, 16)));
  CHECK_FALSE(path.is_degraded);
}

TEST_CASE("link_graph: another host bridge of the same NUMA node → by the switch's own link") {
  const auto graph = server().graph();
  CHECK(links(graph, gpu_a, gpu_port) ==
        Names{"0000:04:00.0 up", "0000:02:00.0 up", "0000:41:00.0 down"});
  CHECK(graph.path(gpu_a, gpu_port).nearness == Nearness::host_bridge);
}

TEST_CASE("link_graph: another NUMA node → across sockets, and what's between them is shared") {
  const auto graph = server().graph();
  CHECK(links(graph, gpu_a, gpu_far) ==
        Names{"0000:04:00.0 up", "0000:02:00.0 up", "NUMA node 0 to 1", "0000:82:00.0 down"});
  CHECK(graph.path(gpu_a, gpu_far).nearness == Nearness::across_sockets);
  CHECK(graph.path(gpu_a, gpu_far).ceiling == Approx(link_capacity(32, 16)));
  CHECK(links(graph, gpu_far, gpu_a)[1] == "NUMA node 1 to 0");
}

TEST_CASE("link_graph: no NUMA nodes known → another host bridge may be another socket") {
  auto machine = server();
  machine.at(gpu_port).numa_node.reset();
  const auto graph = machine.graph();
  CHECK(graph.path(gpu_a, gpu_port).nearness == Nearness::across_sockets);
}

TEST_CASE("link_graph: switches one below the other → several switches, with the link between") {
  auto machine = server();
  machine.add("0000:03:06.0", PortType::downstream_port, "0000:02:00.0", "pci0000:01", 0)
      .add("0000:06:00.0", PortType::upstream_port, "0000:03:06.0", "pci0000:01", 0)
      .add("0000:07:00.0", PortType::downstream_port, "0000:06:00.0", "pci0000:01", 0)
      .add("0000:08:00.0", PortType::endpoint, "0000:07:00.0", "pci0000:01", 0);
  const auto graph = machine.graph();
  CHECK(graph.path(gpu_a, "0000:08:00.0").nearness == Nearness::several_switches);
  CHECK(links(graph, gpu_a, "0000:08:00.0") ==
        Names{"0000:04:00.0 up", "0000:06:00.0 down", "0000:08:00.0 down"});
}

TEST_CASE("link_graph: a link with fewer lanes than its ends have → the narrowest, degraded") {
  auto machine = server();
  machine.at(gpu_b).link->width = 8;
  const auto path = machine.graph().path(gpu_a, gpu_b);
  CHECK(path.ceiling == Approx(link_capacity(32, 8)));
  CHECK(path.is_degraded);
}

TEST_CASE("link_graph: a port of a lower generation → its speed, not degraded") {
  auto machine = server();
  machine.at("0000:03:05.0").link->max_speed = 16;
  const auto path = machine.graph().path(gpu_a, gpu_b);
  CHECK(path.ceiling == Approx(link_capacity(16, 16)));
  CHECK_FALSE(path.is_degraded);
}

TEST_CASE("link_graph: links that can't be read → no ceiling; of one, the other's") {
  auto machine = server();
  machine.at(gpu_b).link.reset();
  machine.at("0000:03:05.0").link.reset();
  CHECK(machine.graph().path(gpu_a, gpu_b).ceiling == Approx(link_capacity(32, 16)));
  machine.at(gpu_a).link.reset();
  machine.at("0000:03:04.0").link.reset();
  CHECK(machine.graph().path(gpu_a, gpu_b).ceiling == 0);
}

TEST_CASE("link_graph: types of ports that only root can read → the same by their places") {
  const auto graph = server().graph();
  const auto other = server().hide_types().graph();
  for (const auto* to : {gpu_b, gpu_port, gpu_far})
    CHECK(links(other, gpu_a, to) == links(graph, gpu_a, to));
}

TEST_CASE("link_graph: NVLink by the driver's letters → nearest, without a ceiling") {
  const auto graph = server().nvlink(gpu_a, gpu_far).graph();
  const auto path = graph.path(gpu_a, gpu_far);
  CHECK(path.nearness == Nearness::nvlink);
  CHECK(path.ceiling == 0);
  CHECK(links(graph, gpu_a, gpu_far) == Names{"0000:04:00.0 NVLink out", "0000:82:00.0 NVLink in"});
  CHECK(graph.path(gpu_far, gpu_a).nearness == Nearness::across_sockets);
}

TEST_CASE("link_graph: no tree, or a GPU that isn't in it → nothing is known") {
  check::Facts facts;
  facts.tree = fail(Errc::denied, "permission denied");
  CHECK(cli::link_graph(facts, {gpu_a}).links.empty());
  CHECK(server().graph().path(gpu_a, "0000:99:00.0").links.empty());
}
