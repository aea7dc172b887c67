// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/link_watch.hpp"

#include "support/catch.hpp"
#include "support/temp_root.hpp"

using namespace peerpath;
using probe::PortType;
using test::TempRoot;

namespace {

constexpr auto port = "0000:00:01.0";
constexpr auto gpu = "0000:01:00.0";

/// A GPU below a root port, both good for 32 GT/s and 16 lanes.
check::Facts facts() {
  probe::PciTree tree;
  const auto add = [&](const std::string& bdf, PortType type) -> probe::PciNode& {
    auto& node = tree.nodes[bdf];
    node.bdf = bdf;
    node.type = type;
    node.link = probe::PciLink{2.5, 16, 32, 16};
    return node;
  };
  add(port, PortType::root_port);
  add(gpu, PortType::endpoint).parent = port;
  check::Facts facts;
  facts.tree = tree;
  return facts;
}

void set_link(TempRoot& root, const std::string& speed, const std::string& width) {
  const auto directory = std::string("/sys/bus/pci/devices/") + gpu;
  root.file(directory + "/max_link_width", "16\n");
  root.file(directory + "/max_link_speed", "32.0 GT/s PCIe\n");
  root.file(directory + "/current_link_width", width + "\n");
  root.file(directory + "/current_link_speed", speed + " GT/s PCIe\n");
}

constexpr std::chrono::milliseconds no_pause{0};

}  // namespace

TEST_CASE("LinkWatch: a link that is at its best once → nothing to say, though it idles again") {
  TempRoot root;
  const auto known = facts();
  const auto& system = root.system();
  cli::LinkWatch links(system, known, no_pause);
  for (const auto* speed : {"2.5", "32.0", "2.5"}) {
    set_link(root, speed, "16");
    links.look();
  }
  CHECK(links.slow_links().empty());
}

TEST_CASE("LinkWatch: a link that stays below what its ends can do → named, with both") {
  TempRoot root;
  const auto known = facts();
  const auto& system = root.system();
  cli::LinkWatch links(system, known, no_pause);
  set_link(root, "8.0", "16");
  links.look();
  set_link(root, "2.5", "16");
  links.look();
  CHECK(links.slow_links() ==
        std::vector<std::string>{"the link of 0000:01:00.0 was at 8 GT/s x16 under load, and both "
                                 "its ends can do 32 GT/s x16"});
}

TEST_CASE("LinkWatch: looks that follow too soon → only the first counts") {
  TempRoot root;
  const auto known = facts();
  const auto& system = root.system();
  cli::LinkWatch links(system, known, std::chrono::hours(1));
  set_link(root, "8.0", "16");
  links.look();
  set_link(root, "32.0", "16");
  links.look();
  CHECK(links.slow_links().size() == 1);
}

TEST_CASE("LinkWatch: links that can't be read, no looks, no tree → nothing") {
  TempRoot root;
  auto known = facts();
  const auto& system = root.system();
  cli::LinkWatch links(system, known, no_pause);
  CHECK(links.slow_links().empty());
  links.look();
  CHECK(links.slow_links().empty());
  check::Facts none;
  none.tree = fail(Errc::denied, "permission denied");
  cli::LinkWatch blind(system, none, no_pause);
  blind.look();
  CHECK(blind.slow_links().empty());
}
