// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/lspci_dump.hpp"

#include "probe/lspci_text.hpp"
#include "support/catch.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace peerpath::probe {

using test::ConfigSpace;
using test::dumped_gpu;
using test::lspci_text;
using test::switch_dump;
using test::without;

namespace {

const std::string first = "0000:03:00.0";
const std::string second = "0000:04:00.0";

LspciDump parse(const std::string& text) {
  auto dump = parse_lspci_dump(text);
  if (!dump) FAIL(dump.error().text());
  return std::move(*dump);
}

PciTree tree_of(const std::string& text, const std::vector<std::string>& bdfs = {first, second}) {
  return read_pci_tree(parse(text), bdfs);
}

std::string error_of(const std::string& text) {
  const auto dump = parse_lspci_dump(text);
  REQUIRE_FALSE(dump.has_value());
  CHECK(dump.error().code == Errc::malformed);
  return dump.error().message;
}

std::vector<std::string> matching(const std::string& text, const std::string& pattern) {
  std::vector<std::string> found;
  for (const auto& device : find_pci_devices(parse(text), {parse_pci_match(pattern).value()}))
    found.push_back(device.bdf);
  return found;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

TEST_CASE("lspci dump: a switch with two GPUs → the tree by bus numbers, registers by bytes") {
  const auto tree = tree_of(switch_dump(0x1d, 0x01));
  CHECK(tree.nodes.size() == 6);
  CHECK(tree.devices == std::vector{first, second});
  const auto path = tree.path(first, second);
  CHECK(path.common == "0000:01:00.0");
  CHECK(path.from == std::vector<std::string>{first, "0000:02:08.0"});
  const auto* port = tree.find("0000:02:08.0");
  REQUIRE(port != nullptr);
  CHECK(port->type.value() == PortType::downstream_port);
  CHECK(port->acs.value()->control == 0x1d);
  CHECK(port->vendor == 0x10b5);
  const auto* gpu = tree.find(first);
  CHECK(gpu->parent == "0000:02:08.0");
  CHECK(gpu->host_bridge == "pci0000:00");
  CHECK(gpu->device == 0x2330);
  CHECK(gpu->class_code == 0x030200);
  CHECK(gpu->link->width == 16);
  CHECK(gpu->link->speed == Approx(32));
  CHECK(gpu->bars_error.has_value());
  CHECK_FALSE(gpu->parent_error.has_value());
  CHECK_FALSE(tree.find("0000:00:01.0")->parent.has_value());
  CHECK_FALSE(tree.find("0000:00:01.0")->parent_error.has_value());
}

TEST_CASE("lspci dump: domains, CRLF, descriptions and no blank lines → the same tree") {
  auto text = switch_dump(0x1d, 0x01);
  std::string domain = "0000";
  SECTION("CRLF") {
    text = replaced(text, "\n", "\r\n");
  }
  SECTION("descriptions") {
    text = replaced(text, "(rev a1)\n",
                    "[0302]: x [10de:2330] (rev a1)\n\tControl: I/O+ Mem+\n"
                    "\tCapabilities: [40] Power Management version 3\n\t\tFlags: PMEClk-\n"
                    "        Kernel driver in use: nvidia\n\n");
  }
  SECTION("no blank lines") {
    text = replaced(text, "\n\n", "\n");
  }
  SECTION("capitals") {
    text = replaced(text, " de 10 ", " DE 10 ");
  }
  SECTION("no line end") {
    text.resize(text.size() - 2);
  }
  SECTION("domains") {
    domain = GENERATE("0000", "0003", "10000");
    for (const auto* bdf : {"00:01.0", "01:00.0", "02:08.0", "02:10.0", "03:00.0", "04:00.0"})
      text = replaced(text, std::string(bdf) + " ", fmt::format("{}:{} ", domain, bdf));
  }
  const auto tree = tree_of(text, {domain + ":03:00.0", domain + ":04:00.0"});
  CHECK(tree.path(domain + ":03:00.0", domain + ":04:00.0").common == domain + ":01:00.0");
  CHECK(tree.find(domain + ":02:08.0")->acs.value()->control == 0x1d);
  CHECK(tree.find(domain + ":03:00.0")->host_bridge == fmt::format("pci{}:00", domain));
}

TEST_CASE("lspci dump: the same bus in two domains → each below its own bridge") {
  auto text = lspci_text("0000:00:01.0", ConfigSpace().express(4).bridge(0, 1, 1).bytes()) +
              lspci_text("0000:01:00.0", dumped_gpu().bytes()) +
              lspci_text("0001:01:00.0", dumped_gpu().bytes());
  const auto tree = tree_of(text, {"0000:01:00.0", "0001:01:00.0"});
  CHECK(tree.find("0000:01:00.0")->parent == "0000:00:01.0");
  CHECK(tree.find("0001:01:00.0")->parent_error.has_value());
}

TEST_CASE("lspci dump: each bridge missing → what's below it isn't taken for a root bus's") {
  const auto whole = switch_dump(0x01, 0x01);
  for (const auto* missing : {"00:01.0", "01:00.0", "02:08.0", "02:10.0"}) {
    INFO(missing);
    const auto tree = tree_of(without(whole, missing));
    bool known = true;
    for (const auto& bdf : {first, second}) {
      const auto* node = tree.find(bdf);
      REQUIRE(node != nullptr);
      while (node->parent)
        node = tree.find(*node->parent);
      if (!node->parent_error) continue;
      known = false;
      CHECK(node->parent_error->message.find("isn't in the dump") != std::string::npos);
      CHECK(tree.find(bdf)->host_bridge == "pci0000:??");
    }
    CHECK_FALSE(known);
  }
}

TEST_CASE("lspci dump: what's on top of a path → root bus only where that's certain") {
  const auto is_on_root_bus = [](const std::string& address, const ConfigSpace& config,
                                 std::size_t size = 4096) {
    const auto tree =
        tree_of(lspci_text(address, config.bytes().substr(0, size)), {"0000:" + address});
    return !tree.find("0000:" + address)->parent_error.has_value();
  };
  CHECK(is_on_root_bus("00:01.0", ConfigSpace().express(4)));
  CHECK(is_on_root_bus("3a:01.0", ConfigSpace().express(4)));
  CHECK(is_on_root_bus("00:02.0", ConfigSpace().express(9)));
  CHECK(is_on_root_bus("00:02.0", ConfigSpace(256).conventional(true)));
  CHECK_FALSE(is_on_root_bus("3a:02.0", ConfigSpace().express(9)));
  CHECK_FALSE(is_on_root_bus("3a:02.0", ConfigSpace(256).conventional(true)));
  CHECK_FALSE(is_on_root_bus("00:02.0", ConfigSpace().express(0)));
  CHECK_FALSE(is_on_root_bus("00:02.0", ConfigSpace().express(6)));
  CHECK_FALSE(is_on_root_bus("00:01.0", ConfigSpace().express(4), 64));
  CHECK_FALSE(is_on_root_bus("00:01.0", ConfigSpace().express(4), 0x80));
}

TEST_CASE("lspci dump: two root ports on bus 0 → no bridge in common, and that's certain") {
  const auto port = [](unsigned bus) { return ConfigSpace().express(4).bridge(0, bus, bus); };
  const auto tree = tree_of(
      lspci_text("00:01.0", port(3).bytes()) + lspci_text("00:02.0", port(4).bytes()) +
      lspci_text("03:00.0", dumped_gpu().bytes()) + lspci_text("04:00.0", dumped_gpu().bytes()));
  const auto path = tree.path(first, second);
  CHECK_FALSE(path.common.has_value());
  CHECK(path.same_host_bridge);
  CHECK_FALSE(tree.find(path.from.back())->parent_error.has_value());
  CHECK_FALSE(tree.find(path.to.back())->parent_error.has_value());
}

TEST_CASE("lspci dump: bus numbers that contradict each other → an error, no circle") {
  const auto bridge = [](unsigned secondary) {
    return ConfigSpace().express(6).bridge(0, secondary, 0xff).bytes();
  };
  const auto gpu = lspci_text("03:00.0", dumped_gpu().bytes());
  const auto twice =
      tree_of(gpu + lspci_text("01:00.0", bridge(3)) + lspci_text("02:00.0", bridge(3)), {first});
  CHECK(twice.find(first)->parent_error->message.find("0000:01:00.0, 0000:02:00.0") !=
        std::string::npos);
  const auto circle =
      tree_of(gpu + lspci_text("02:00.0", bridge(3)) + lspci_text("03:01.0", bridge(2)), {first});
  CHECK(circle.find(first)->parent == "0000:02:00.0");
  CHECK(circle.find("0000:02:00.0")->parent_error.has_value());
}

TEST_CASE("lspci dump: 256 or 64 bytes, or other than all → no ACS known, and why") {
  const auto port = ConfigSpace().express(4).acs(0x0f, 0x01).bytes();
  const auto node = [&](std::size_t size) {
    return *tree_of(lspci_text("00:01.0", port.substr(0, size)), {"0000:00:01.0"})
                .find("0000:00:01.0");
  };
  CHECK(node(4096).acs.value().has_value());
  CHECK(node(256).acs.error().message.find("256 bytes") != std::string::npos);
  CHECK(node(256).type.value() == PortType::root_port);
  const auto small = node(64);
  CHECK(small.acs.error().code == Errc::unsupported);
  CHECK(small.acs.error().message == "only 64 bytes of its configuration space are in the dump");
  CHECK_FALSE(small.type.has_value());
  CHECK(small.link_error.has_value());
  CHECK_FALSE(node(0x2b0).acs.has_value());
  CHECK_FALSE(node(16).acs.has_value());
}

TEST_CASE("lspci dump: patterns → the functions that match by their bytes, in order") {
  const auto text = switch_dump(0x01, 0x01);
  CHECK(matching(text, "10de:*:0302") == std::vector{first, second});
  CHECK(matching(text, "10b5:8747").size() == 4);
  CHECK(matching(text, "10de:2331").empty());
  CHECK(matching(text, "10de:*:0300").empty());
}

TEST_CASE("lspci dump: a function without its ids → it may be one, and nothing is known of it") {
  const auto virtual_function = dumped_gpu().ids(0xffff, 0xffff, 0x030200).bytes();
  for (const auto& bytes : {std::string(4096, '\xff'), virtual_function, std::string()}) {
    const auto text = switch_dump(0x01, 0x01) + lspci_text("05:00.0", bytes);
    CHECK(matching(text, "10de:*:0302").size() == 3);
    const auto tree = tree_of(text, {"0000:05:00.0"});
    const auto* node = tree.find("0000:05:00.0");
    CHECK_FALSE(node->acs.has_value());
    CHECK_FALSE(node->type.has_value());
    CHECK(node->link_error.has_value());
    CHECK(node->parent_error.has_value());
  }
}

TEST_CASE("lspci dump: a virtual function of another class → no device to be checked") {
  const auto bytes = ConfigSpace().express(0).ids(0xffff, 0xffff, 0x020000).bytes();
  CHECK(matching(lspci_text("05:00.2", bytes), "10de:*:0302").empty());
}

TEST_CASE("lspci dump: devices by address → found with or without domain, or named") {
  const auto dump = parse(switch_dump(0x01, 0x01));
  const auto found = read_pci_devices(dump, {"03:00.0", "0000:04:00.0"});
  REQUIRE(found.has_value());
  CHECK(found->at(0).bdf == first);
  CHECK(found->at(1).vendor == 0x10de);
  CHECK(found->at(0).group_type.error().code == Errc::unsupported);
  CHECK(read_pci_devices(dump, {"09:00.0"}).error().code == Errc::not_found);
  CHECK(read_pci_devices(dump, {"zz"}).error().code == Errc::malformed);
}

TEST_CASE("lspci dump: what isn't lspci's → an error with its line") {
  const auto bytes = ConfigSpace().express(4).bytes();
  const auto good = lspci_text("00:01.0", bytes);
  CHECK(error_of(good + "garbage\n").starts_with("line 259: "));
  CHECK(error_of("$ sudo lspci -xxxx\n" + good).starts_with("line 1: "));
  CHECK(error_of("00: 86 80 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n").starts_with("line 1: "));
  CHECK(error_of(good + good).starts_with("line 259: 0000:00:01.0"));
  CHECK(error_of(replaced(good, "\n10: ", "\n20: ")).starts_with("line 3: bytes at 0x20"));
  CHECK(error_of(replaced(good, "\n10: 00", "\n10:")).starts_with("line 3: not 16 bytes"));
  CHECK(error_of(replaced(good, "\n10: 00", "\n10: 0g")).starts_with("line 3: not 16 bytes"));
  CHECK(error_of(replaced(good, "\n10: 00", "\n10: 00 00")).starts_with("line 3: not 16 bytes"));
  CHECK(error_of(good.substr(0, good.size() - 5)).starts_with("line 257: not 16 bytes"));
  CHECK(error_of(good + std::string("\0\x01\n", 3)).starts_with("line 259: "));
  // One of the lines in the middle is gone.
  const auto at = good.find("\n80:");
  CHECK(error_of(good.substr(0, at) + good.substr(good.find("\n90:"))).starts_with("line 10: "));
}

TEST_CASE("lspci dump: nothing in it, or only names → an error") {
  const auto* text = GENERATE("", "\n\n", "00:01.0 PCI bridge: Intel\n\tFlags: bus master\n");
  CHECK(error_of(text).find("lspci -xxxx") != std::string::npos);
}

}  // namespace peerpath::probe
