// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/pci_tree.hpp"

#include "probe/config_space.hpp"
#include "probe/machines.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace peerpath::probe {

using test::ConfigSpace;
using test::TempRoot;

namespace {

/// A function with its link in /sys/bus/pci/devices. `above` is its directory's.
std::string add(TempRoot& root, const std::string& above, const std::string& bdf,
                ConfigSpace config, const std::string& ids = "10b5 8747 060400") {
  const auto number = [&](std::size_t at, std::size_t digits) {
    return static_cast<std::uint32_t>(std::stoul(ids.substr(at, digits), nullptr, 16));
  };
  config.ids(static_cast<std::uint16_t>(number(0, 4)), static_cast<std::uint16_t>(number(5, 4)),
             number(10, 6));
  const auto directory = above + "/" + bdf;
  root.file(directory + "/vendor", "0x" + ids.substr(0, 4) + "\n");
  root.file(directory + "/device", "0x" + ids.substr(5, 4) + "\n");
  root.file(directory + "/class", "0x" + ids.substr(10, 6) + "\n");
  root.file(directory + "/config", config.bytes());
  root.file(directory + "/resource", "0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
  root.link("/sys/bus/pci/devices/" + bdf, "../../.." + directory.substr(4));
  return directory;
}

ConfigSpace root_port() {
  return ConfigSpace().express(0x4).acs(0x0f, 0x01);
}
ConfigSpace downstream() {
  return ConfigSpace().express(0x6).acs(0x5f, 0x1d);
}

/// Two sockets, each with a switch; four GPUs behind each.
void add_two_switches(TempRoot& root) {
  for (int socket = 0; socket < 2; ++socket) {
    const int base = socket == 0 ? 0x10 : 0x90;
    const auto bus = [&](int offset) { return fmt::format("0000:{:02x}:00.0", base + offset); };
    const auto host = fmt::format("/sys/devices/pci0000:{:02x}", base - 1);
    const auto port =
        add(root, host, fmt::format("0000:{:02x}:01.0", base - 1), root_port(), "8086 2030 060400");
    const auto upstream = add(root, port, bus(0), ConfigSpace().express(0x5));
    for (int i = 0; i < 4; ++i) {
      const auto below =
          add(root, upstream, fmt::format("0000:{:02x}:{:02x}.0", base + 1, 4 + i), downstream());
      const auto gpu = add(root, below, bus(2 + i), ConfigSpace().express(0x0), "10de 2330 030200");
      root.file(gpu + "/numa_node", socket == 0 ? "0\n" : "1\n");
    }
  }
}

PciTree read(TempRoot& root, const std::vector<std::string>& bdfs) {
  auto tree = read_pci_tree(root.system(), bdfs);
  if (!tree) FAIL(tree.error().text());
  return std::move(*tree);
}

}  // namespace

TEST_CASE("read_pci_tree: eight GPUs behind two switches → each with every bridge above it") {
  TempRoot root;
  add_two_switches(root);
  std::vector<std::string> gpus;
  for (const auto base : {0x12, 0x92}) {
    for (int i = 0; i < 4; ++i)
      gpus.push_back(fmt::format("0000:{:02x}:00.0", base + i));
  }
  const auto tree = read(root, gpus);
  CHECK(tree.devices == gpus);
  CHECK(tree.nodes.size() == 2 * (1 + 1 + 4 + 4));
  const auto* gpu = tree.find("0000:13:00.0");
  REQUIRE(gpu != nullptr);
  CHECK(gpu->vendor == 0x10de);
  CHECK(gpu->class_code == 0x030200);
  CHECK(gpu->parent == "0000:11:05.0");
  CHECK(gpu->host_bridge == "pci0000:0f");
  CHECK(gpu->numa_node == 0);
  CHECK(gpu->type.value() == PortType::endpoint);
  CHECK_FALSE(gpu->acs.value().has_value());
  const auto* port = tree.find("0000:11:05.0");
  REQUIRE(port != nullptr);
  CHECK(port->type.value() == PortType::downstream_port);
  CHECK(port->acs.value()->control == 0x1d);
  CHECK(tree.find("0000:0f:01.0")->type.value() == PortType::root_port);
  CHECK_FALSE(tree.find("0000:0f:01.0")->parent.has_value());
}

TEST_CASE("PciTree::path: two GPUs behind one switch → by its upstream port") {
  TempRoot root;
  add_two_switches(root);
  const auto path =
      read(root, {"0000:12:00.0", "0000:15:00.0"}).path("0000:12:00.0", "0000:15:00.0");
  CHECK(path.common == "0000:10:00.0");
  CHECK(path.same_host_bridge);
  CHECK(path.from == std::vector<std::string>{"0000:12:00.0", "0000:11:04.0"});
  CHECK(path.to == std::vector<std::string>{"0000:15:00.0", "0000:11:07.0"});
}

TEST_CASE("PciTree::path: two sockets → no bridge in common") {
  TempRoot root;
  add_two_switches(root);
  const auto path =
      read(root, {"0000:12:00.0", "0000:92:00.0"}).path("0000:12:00.0", "0000:92:00.0");
  CHECK_FALSE(path.common.has_value());
  CHECK_FALSE(path.same_host_bridge);
  CHECK(path.from.back() == "0000:0f:01.0");
  CHECK(path.to.back() == "0000:8f:01.0");
}

TEST_CASE("PciTree::path: two functions of one device → by the bridge above it") {
  TempRoot root;
  const auto port = add(root, "/sys/devices/pci0000:00", "0000:00:01.0", root_port());
  add(root, port, "0000:01:00.0", ConfigSpace().express(0));
  add(root, port, "0000:01:00.1", ConfigSpace().express(0));
  const auto path =
      read(root, {"0000:01:00.0", "0000:01:00.1"}).path("0000:01:00.0", "0000:01:00.1");
  CHECK(path.common == "0000:00:01.0");
  CHECK(path.from.size() == 1);
}

TEST_CASE("PciTree::path: two functions on a root bus → no bridge in common") {
  TempRoot root;
  add(root, "/sys/devices/pci0000:00", "0000:00:02.0", ConfigSpace(256).conventional(true));
  add(root, "/sys/devices/pci0000:00", "0000:00:03.0", ConfigSpace(256).conventional(true));
  const auto path =
      read(root, {"0000:00:02.0", "0000:00:03.0"}).path("0000:00:02.0", "0000:00:03.0");
  CHECK_FALSE(path.common.has_value());
  CHECK(path.same_host_bridge);
}

TEST_CASE("read_pci_tree: a virtual function → its physical function is read and on the path") {
  TempRoot root;
  const auto port = add(root, "/sys/devices/pci0000:00", "0000:00:01.0", root_port());
  add(root, port, "0000:01:00.0", ConfigSpace().express(0).acs(0x1c, 0x0c));
  const auto virtual_function = add(root, port, "0000:01:00.4", ConfigSpace().express(0));
  root.link(virtual_function + "/physfn", "../0000:01:00.0");
  const auto other = add(root, "/sys/devices/pci0000:00", "0000:00:02.0", root_port());
  add(root, other, "0000:02:00.0", ConfigSpace().express(0));
  const auto tree = read(root, {"0000:01:00.4", "0000:02:00.0"});
  CHECK(tree.devices.size() == 2);
  CHECK(tree.find("0000:01:00.4")->physical_function == "0000:01:00.0");
  REQUIRE(tree.find("0000:01:00.0") != nullptr);
  const auto path = tree.path("0000:01:00.4", "0000:02:00.0");
  CHECK(path.from == std::vector<std::string>{"0000:01:00.0", "0000:00:01.0"});
}

TEST_CASE("read_pci_tree: a root bus below a function, as Intel VMD's → that bus counts") {
  TempRoot root;
  const auto vmd = add(root, "/sys/devices/pci0000:00", "0000:00:0e.0", ConfigSpace().express(9));
  const auto port = add(root, vmd + "/pci10000:e0", "10000:e0:06.0", root_port());
  add(root, port, "10000:e1:00.0", ConfigSpace().express(0));
  const auto tree = read(root, {"10000:e1:00.0"});
  CHECK(tree.find("10000:e1:00.0")->host_bridge == "pci10000:e0");
  CHECK(tree.nodes.size() == 2);
}

TEST_CASE("read_pci_tree: 64 bytes of configuration space → denied, naming the file") {
  TempRoot root;
  const auto port = add(root, "/sys/devices/pci0000:00", "0000:00:01.0", root_port());
  root.file(port + "/config", root_port().bytes().substr(0, 64));
  const auto tree = read(root, {"0000:00:01.0"});
  const auto& acs = tree.find("0000:00:01.0")->acs;
  REQUIRE_FALSE(acs.has_value());
  CHECK(acs.error().code == Errc::denied);
  CHECK(acs.error().text().find("0000:00:01.0/config'") != std::string::npos);
}

TEST_CASE("read_pci_tree: no configuration space, or no ids → errors, never `no ACS`") {
  TempRoot root;
  const auto port = add(root, "/sys/devices/pci0000:00", "0000:00:01.0", root_port());
  root.remove(port + std::string(GENERATE("/config", "/vendor", "/device", "/class")));
  const auto tree = read(root, {"0000:00:01.0"});
  CHECK_FALSE(tree.find("0000:00:01.0")->acs.has_value());
  CHECK_FALSE(tree.find("0000:00:01.0")->type.has_value());
}

TEST_CASE("read_pci_tree: another function's configuration space, or none → malformed") {
  TempRoot root;
  const auto port = add(root, "/sys/devices/pci0000:00", "0000:00:01.0", root_port());
  root.file(port + "/config",
            GENERATE(std::string(4096, '\0'), root_port().ids(0x10b5, 0x8748, 0x060400).bytes()));
  const auto tree = read(root, {"0000:00:01.0"});
  CHECK(tree.find("0000:00:01.0")->acs.error().code == Errc::malformed);
  CHECK(tree.find("0000:00:01.0")->type.error().code == Errc::malformed);
}

TEST_CASE("read_pci_tree: bridges missing from the tree → not known what's above") {
  TempRoot root;
  add(root, "/sys/devices/pci0000:00", "0000:06:00.0", ConfigSpace().express(0));
  const auto port =
      add(root, "/sys/devices/pci0000:00", "0000:00:01.0", root_port().bridge(0, 1, 9));
  add(root, port, "0000:01:00.0", ConfigSpace().express(0));
  add(root, port, "0000:07:00.0", ConfigSpace().express(0));
  const auto tree = read(root, {"0000:01:00.0", "0000:06:00.0", "0000:07:00.0"});
  CHECK_FALSE(tree.find("0000:00:01.0")->parent_error.has_value());
  CHECK_FALSE(tree.find("0000:01:00.0")->parent_error.has_value());
  CHECK(tree.find("0000:06:00.0")->parent_error.value().code == Errc::malformed);
  CHECK(tree.find("0000:07:00.0")->parent_error.value().code == Errc::malformed);
}

TEST_CASE("read_pci_tree: a link attribute that can't be read → an error, not `no link`") {
  TempRoot root;
  const auto port = add(root, "/sys/devices/pci0000:00", "0000:00:01.0", root_port());
  root.directory(port + "/max_link_width");
  const auto tree = read(root, {"0000:00:01.0"});
  CHECK(tree.find("0000:00:01.0")->link_error.has_value());
}

TEST_CASE("read_pci_tree: the link's attributes of old and new kernels → numbers") {
  TempRoot root;
  const auto gpu = add(root, "/sys/devices/pci0000:00", "0000:00:01.0", ConfigSpace().express(0));
  const auto link = [&](const std::string& speed, const std::string& width) {
    root.file(gpu + "/max_link_speed", "16 GT/s\n").file(gpu + "/max_link_width", "16\n");
    root.file(gpu + "/current_link_speed", speed).file(gpu + "/current_link_width", width);
    return read(root, {"0000:00:01.0"}).find("0000:00:01.0")->link.value();
  };
  CHECK(link("2.5 GT/s PCIe\n", "16\n").speed == Approx(2.5));
  CHECK(link("16.0 GT/s PCIe\n", "16\n").speed == Approx(16));
  CHECK(link("8 GT/s\n", "8\n").width == 8);
  CHECK(link("Unknown\n", "0\n").speed == Approx(0));
  CHECK(link("Unknown speed\n", "255\n").width == 0);
  CHECK(link("Unknown\n", "63\n").width == 0);
  CHECK(link("", "\n").max_speed == Approx(16));
}

TEST_CASE("read_pci_tree: no link attributes, or none that tell → no link") {
  TempRoot root;
  const auto gpu = add(root, "/sys/devices/pci0000:00", "0000:00:01.0", ConfigSpace().express(0));
  SECTION("none") {}
  SECTION("unknown") {
    root.file(gpu + "/max_link_speed", "Unknown\n").file(gpu + "/max_link_width", "0\n");
  }
  const auto tree = read(root, {"0000:00:01.0"});
  CHECK_FALSE(tree.find("0000:00:01.0")->link.has_value());
  CHECK_FALSE(tree.find("0000:00:01.0")->link_error.has_value());
}

TEST_CASE("read_pci_tree: `resource` → the memory BARs with their sizes") {
  TempRoot root;
  const auto gpu = add(root, "/sys/devices/pci0000:00", "0000:00:01.0", ConfigSpace().express(0));
  root.file(gpu + "/resource",
            "0x00000000a0000000 0x00000000a0ffffff 0x0000000000040200\n"
            "0x0000380000000000 0x0000381fffffffff 0x000000000014220c\n"
            "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
            "0x0000000000003000 0x000000000000307f 0x0000000000040101\n"
            "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
            "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
            "0x00000000a1000000 0x00000000a107ffff 0x0000000000046200\n");
  const auto tree = read(root, {"0000:00:01.0"});
  const auto& bars = tree.find("0000:00:01.0")->bars;
  REQUIRE(bars.size() == 2);
  CHECK(bars[0].size == 16U << 20U);
  CHECK_FALSE(bars[0].prefetchable);
  CHECK(bars[1].number == 1);
  CHECK(bars[1].size == std::uint64_t{128} << 30U);
  CHECK(bars[1].prefetchable);
  CHECK(bars[1].is_64_bit);
}

TEST_CASE("read_pci_tree: a `resource` that's none → an error with its line") {
  TempRoot root;
  const auto gpu = add(root, "/sys/devices/pci0000:00", "0000:00:01.0", ConfigSpace().express(0));
  root.file(gpu + "/resource", "0x10 0x1f 0x200\n0x20 0x10 0x200\n");
  const auto tree = read(root, {"0000:00:01.0"});
  const auto& error = tree.find("0000:00:01.0")->bars_error;
  REQUIRE(error.has_value());
  CHECK(error->message.find("line 2") != std::string::npos);
}

TEST_CASE("read_pci_tree: `removable` and `numa_node` → as the kernel tells") {
  TempRoot root;
  const auto gpu = add(root, "/sys/devices/pci0000:00", "0000:00:01.0", ConfigSpace().express(0));
  const auto node = [&] { return *read(root, {"0000:00:01.0"}).find("0000:00:01.0"); };
  CHECK_FALSE(node().removable.has_value());
  root.file(gpu + "/removable", "removable\n").file(gpu + "/numa_node", "-1\n");
  CHECK(node().removable == true);
  CHECK_FALSE(node().numa_node.has_value());
  root.file(gpu + "/removable", "fixed\n");
  CHECK(node().removable == false);
}

TEST_CASE("read_pci_tree: a function that isn't there, or on no bus → an error that names it") {
  TempRoot root;
  root.file("/sys/devices/elsewhere/0000:01:00.0/class", "0x030200\n");
  root.link("/sys/bus/pci/devices/0000:01:00.0", "../../../devices/elsewhere/0000:01:00.0");
  for (const auto* bdf : {"0000:01:00.0", "0000:02:00.0"}) {
    const auto tree = read_pci_tree(root.system(), {bdf});
    REQUIRE_FALSE(tree.has_value());
    CHECK(tree.error().text().find(bdf) != std::string::npos);
  }
}

}  // namespace peerpath::probe
