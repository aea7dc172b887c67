// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/pci_config.hpp"

#include "probe/config_space.hpp"
#include "support/catch.hpp"

#include <string>

namespace peerpath::probe {

using test::ConfigSpace;

namespace {

Result<std::optional<Acs>> acs_of(const std::string& bytes, std::uint16_t vendor = 0x10b5,
                                  std::uint16_t device = 0x8747) {
  return PciConfig(bytes).acs(vendor, device);
}

}  // namespace

TEST_CASE("PciConfig: each type of port → its name") {
  const std::vector<std::pair<unsigned, PortType>> types{
      {0x0, PortType::endpoint},        {0x1, PortType::endpoint},
      {0x4, PortType::root_port},       {0x5, PortType::upstream_port},
      {0x6, PortType::downstream_port}, {0x7, PortType::pcie_to_pci},
      {0x8, PortType::pci_to_pcie},     {0x9, PortType::endpoint},
      {0xa, PortType::endpoint},
  };
  for (const auto& [code, type] : types) {
    const auto found = PciConfig(ConfigSpace().express(code).bytes()).port_type();
    REQUIRE(found.has_value());
    CHECK(*found == type);
    CHECK_FALSE(name_of(type).empty());
  }
  CHECK_FALSE(PciConfig(ConfigSpace().express(0xf).bytes()).port_type().has_value());
}

TEST_CASE("PciConfig: each type of port → whether it stands below another one") {
  const auto needs = [](const std::string& bytes) { return PciConfig(bytes).needs_port_above(); };
  for (const unsigned code : {0x0U, 0x1U, 0x5U, 0x6U, 0x7U}) {
    INFO(code);
    CHECK(needs(ConfigSpace().express(code).bytes()));
    CHECK_FALSE(needs(ConfigSpace().express(code).bytes().substr(0, 64)));
  }
  for (const unsigned code : {0x4U, 0x8U, 0x9U, 0xaU}) {
    INFO(code);
    CHECK_FALSE(needs(ConfigSpace().express(code).bytes()));
  }
  CHECK_FALSE(needs(ConfigSpace(256).conventional(true).bytes()));
}

TEST_CASE("PciConfig: ACS behind other capabilities → its words") {
  const auto bytes = ConfigSpace().express(0x6).acs(0x005f, 0x001d).bytes();
  const auto acs = acs_of(bytes);
  REQUIRE(acs.has_value());
  REQUIRE(acs->has_value());
  CHECK((*acs)->capability == 0x005f);
  CHECK((*acs)->control == 0x001d);
  CHECK((*acs)->where == "ACSCtl");
  CHECK((*acs)->redirects());
}

TEST_CASE("Acs: each control bit → redirect for RR, CR and EC alone") {
  for (unsigned bit = 0; bit < 16; ++bit) {
    const auto control = static_cast<std::uint16_t>(1U << bit);
    CHECK(Acs{0xff, control, "ACSCtl"}.redirects() == (bit == 2 || bit == 3 || bit == 5));
  }
}

TEST_CASE("PciConfig: no ACS in a whole space → certain that there's none") {
  const auto acs = acs_of(ConfigSpace().express(0x0).bytes());
  REQUIRE(acs.has_value());
  CHECK_FALSE(acs->has_value());
}

TEST_CASE("PciConfig: no extended capability at all → certain that there's none") {
  const auto acs = acs_of(ConfigSpace().express(0x0).no_extended().bytes());
  REQUIRE(acs.has_value());
  CHECK_FALSE(acs->has_value());
}

TEST_CASE("PciConfig: conventional PCI → no ACS, and 256 bytes suffice for that") {
  for (const bool list : {true, false}) {
    const auto bytes = ConfigSpace(256).conventional(list).bytes();
    CHECK(PciConfig(bytes).port_type().value() == PortType::conventional);
    const auto acs = acs_of(bytes);
    REQUIRE(acs.has_value());
    CHECK_FALSE(acs->has_value());
  }
}

TEST_CASE("PciConfig: 64 bytes, as for ordinary users → denied, never `no ACS`") {
  const auto whole = ConfigSpace().express(0x6).acs(0x5f, 0x1d).bytes();
  for (const auto& bytes : {whole, ConfigSpace(256).conventional(false).bytes()}) {
    const PciConfig config(bytes.substr(0, 64));
    REQUIRE_FALSE(config.port_type().has_value());
    CHECK(config.port_type().error().code == Errc::denied);
    CHECK(config.acs(1, 1).error().code == Errc::denied);
    CHECK(config.acs(1, 1).error().message.find("only root") != std::string::npos);
    CHECK(config.link().error().code == Errc::denied);
  }
}

TEST_CASE("PciConfig: 256 bytes of a PCI Express function → unsupported, and says which") {
  const auto acs = acs_of(ConfigSpace().express(0x6).bytes().substr(0, 256));
  REQUIRE_FALSE(acs.has_value());
  CHECK(acs.error().code == Errc::unsupported);
  CHECK(acs.error().message.find("256 bytes") != std::string::npos);
}

TEST_CASE("PciConfig: all ones from 0x100 on → unsupported, and says which") {
  auto bytes = ConfigSpace().express(0x6).bytes();
  bytes.replace(256, std::string::npos, std::string(4096 - 256, '\xff'));
  const auto acs = acs_of(bytes);
  REQUIRE_FALSE(acs.has_value());
  CHECK(acs.error().code == Errc::unsupported);
  CHECK(acs.error().message.find("all ones") != std::string::npos);
}

TEST_CASE("PciConfig: a function that's gone → unsupported, not `conventional`") {
  const PciConfig config(std::string(4096, '\xff'));
  CHECK(config.port_type().error().code == Errc::unsupported);
  CHECK(config.acs(0x10de, 0x2330).error().message.find("without power") != std::string::npos);
}

TEST_CASE("PciConfig: cut at every length → an error, never `no ACS`") {
  const auto bytes = ConfigSpace().express(0x6).acs(0x5f, 0x1d).bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO(size);
    REQUIRE_FALSE(acs_of(bytes.substr(0, size)).has_value());
  }
}

TEST_CASE("PciConfig: lists that go round, or lead nowhere → malformed") {
  auto bytes = ConfigSpace().express(0x6).acs(0x5f, 0x1d).bytes();
  SECTION("the capability list goes round") {
    bytes[0x40] = 0x01;
    bytes[0x41] = 0x40;
  }
  SECTION("the capability list leads into the header") {
    bytes[0x41] = 0x10;
  }
  SECTION("the capability list leads to all ones") {
    bytes[0x41] = '\xf0';
    bytes[0xf0] = '\xff';
  }
  SECTION("the extended list goes round") {
    bytes[0x102] = 0x01;
    bytes[0x103] = 0x10;
  }
  SECTION("the extended list leads to all ones") {
    bytes[0x102] = 0x01;
    bytes[0x103] = 0x30;
    bytes.replace(0x300, 4, "\xff\xff\xff\xff");
  }
  SECTION("the extended list leads into conventional space") {
    bytes[0x102] = 0x01;
    bytes[0x103] = 0x08;
  }
  SECTION("ACS stands at the very end") {
    bytes[0x102] = '\xc1';
    bytes[0x103] = '\xff';
    bytes.replace(0xffc, 4, std::string("\x0d\x00\x01\x00", 4));
  }
  const auto acs = acs_of(bytes);
  REQUIRE_FALSE(acs.has_value());
  CHECK(acs.error().code == Errc::malformed);
}

TEST_CASE("PciConfig: Intel root ports with wide ACS registers → the control at +8") {
  const auto bytes =
      ConfigSpace().express(0x4).acs(0x0f, 0x0000).word(ConfigSpace::acs_at + 8, 0x000c).bytes();
  for (const unsigned device : {0xa110U, 0xa167U, 0xa290U, 0xa2eeU, 0x9d1bU}) {
    const auto acs = acs_of(bytes, 0x8086, static_cast<std::uint16_t>(device));
    REQUIRE(acs.has_value());
    CHECK((*acs)->control == 0x000c);
    CHECK((*acs)->where.find("+8") != std::string::npos);
  }
  CHECK((*acs_of(bytes, 0x8086, 0xa10f))->control == 0);
  CHECK((*acs_of(bytes, 0x8087, 0xa110))->control == 0);
}

TEST_CASE("PciConfig: Intel root ports with chipset registers instead of ACS → unsupported") {
  const auto bytes = ConfigSpace().express(0x4).bytes();
  const auto acs = acs_of(bytes, 0x8086, 0x8c10);
  REQUIRE_FALSE(acs.has_value());
  CHECK(acs.error().code == Errc::unsupported);
  CHECK(acs.error().message.find("chipset") != std::string::npos);
  CHECK(acs_of(bytes, 0x8086, 0x2030).has_value());
  CHECK(acs_of(ConfigSpace().express(0x0).bytes(), 0x8086, 0x8c10).has_value());
}

TEST_CASE("PciConfig: the link's registers → GT/s and lanes") {
  const auto link = PciConfig(ConfigSpace().express(0x0).link(5, 16, 1, 8).bytes()).link();
  REQUIRE(link.has_value());
  REQUIRE(link->has_value());
  CHECK((*link)->max_speed == Approx(32));
  CHECK((*link)->max_width == 16);
  CHECK((*link)->speed == Approx(2.5));
  CHECK((*link)->width == 8);
  CHECK_FALSE(PciConfig(ConfigSpace(256).conventional(true).bytes()).link()->has_value());
}

TEST_CASE("PciConfig: a bridge's bus numbers → those behind it") {
  const auto buses = PciConfig(ConfigSpace().express(0x4).bridge(0, 0x3a, 0x3f).bytes()).buses();
  REQUIRE(buses.has_value());
  CHECK(buses->secondary == 0x3a);
  CHECK(buses->subordinate == 0x3f);
  CHECK_FALSE(PciConfig(ConfigSpace().express(0x4).bridge(0, 0, 0).bytes()).buses().has_value());
  CHECK_FALSE(PciConfig(ConfigSpace().express(0x0).bytes()).buses().has_value());
}

}  // namespace peerpath::probe
