// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/pci_tree.hpp"

#include "base/text.hpp"
#include "probe/pci_attribute.hpp"
#include "probe/pci_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace peerpath::probe {
namespace {

// Bits of include/linux/ioport.h that the third number of `resource` holds.
constexpr std::uint64_t is_memory = 0x200;
constexpr std::uint64_t is_prefetchable = 0x2000;
constexpr std::uint64_t is_64_bit_memory = 0x100000;

/// "pci0000:00", the directory of a root bus. Fact: drivers/pci/probe.c pci_register_host_bridge.
bool is_root_bus(std::string_view name) {
  if (!name.starts_with("pci")) return false;
  const auto parts = split(name.substr(3), ':');
  return parts.size() == 2 && parts[0].size() >= 4 && parts[1].size() == 2 && is_hex(parts[0]) &&
         is_hex(parts[1]);
}

/// Where a function is: its root bus, and the functions from there down to itself.
struct Place {
  std::string host_bridge;
  std::vector<std::string> chain;
};

Result<Place> find_place(const System& system, const std::string& bdf) {
  const auto link = fmt::format("{}/{}", pci_devices, bdf);
  const auto path = system.resolve(link);
  if (!path) return fail(path.error());
  Place place;
  for (const auto name : split(*path, '/')) {
    // A later root bus counts: those of Intel VMD are below a function of another.
    if (is_root_bus(name)) place = {std::string(name), {}};
    if (is_pci_address(name) && !place.host_bridge.empty()) place.chain.emplace_back(name);
  }
  if (place.chain.empty() || place.chain.back() != bdf) {
    return fail(Errc::malformed,
                fmt::format("'{}': not a link to a function on a PCI bus", system.shown(link)));
  }
  return place;
}

/// A word or number of a file; nothing where the function has no such file. Reading what it has,
/// but not for this function, is EINVAL on some kernels.
Result<std::optional<std::string>> read_attribute(const System& system, const std::string& bdf,
                                                  std::string_view name) {
  const auto text = system.read(pci_path(bdf, name), attribute_limit);
  if (text) return std::string(trim(*text));
  const auto code = text.error().code;
  if (code == Errc::not_found || code == Errc::invalid) return std::nullopt;
  return fail(text.error());
}

/// The number that "8.0 GT/s PCIe" and "8 GT/s" begin with; 0 for "Unknown".
/// Fact: drivers/pci/probe.c pci_speed_string.
double parse_speed(std::string_view text) {
  unsigned whole = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, whole);
  if (error != std::errc{}) return 0;
  double speed = whole;
  if (end - rest >= 2 && rest[0] == '.' && rest[1] >= '0' && rest[1] <= '9') {
    speed += (rest[1] - '0') / 10.0;
  }
  return speed;
}

/// Lanes; 0 where it says 0, 255 or 63 (all ones), which stand for unknown.
unsigned parse_width(std::string_view text) {
  const auto width = parse_number(text);
  return width && *width <= 32 ? static_cast<unsigned>(*width) : 0;
}

void read_link(const System& system, PciNode& node) {
  PciLink link;
  const auto read = [&](std::string_view name) -> std::string {
    auto text = read_attribute(system, node.bdf, name);
    if (!text && !node.link_error) node.link_error = text.error();
    return text ? text->value_or("") : "";
  };
  link.max_width = parse_width(read("max_link_width"));
  if (node.link_error || link.max_width == 0) return;
  link.max_speed = parse_speed(read("max_link_speed"));
  link.width = parse_width(read("current_link_width"));
  link.speed = parse_speed(read("current_link_speed"));
  if (!node.link_error) node.link = link;
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  return parse_number(text.substr(2), 16);
}

/// Start, end and flags. Fact: drivers/pci/pci-sysfs.c resource_show.
std::optional<std::array<std::uint64_t, 3>> parse_resource_line(std::string_view line) {
  std::array<std::uint64_t, 3> numbers{};
  const auto fields = words(line);
  if (fields.size() != numbers.size()) return std::nullopt;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = parse_hex(fields[i]);
    if (!number) return std::nullopt;
    numbers.at(i) = *number;
  }
  if (numbers[1] < numbers[0]) return std::nullopt;
  return numbers;
}

/// The first six lines are the BARs.
Result<std::vector<PciBar>> parse_resource(std::string_view text) {
  std::vector<PciBar> bars;
  unsigned number = 0;
  for (const auto line : lines(text)) {
    if (number == 6) break;
    const auto numbers = parse_resource_line(line);
    if (!numbers) {
      return fail(Errc::malformed, fmt::format("line {}: not start, end and flags", number + 1));
    }
    const auto [start, end, flags] = *numbers;
    if ((flags & is_memory) != 0 && end != 0) {
      bars.push_back({number, end - start + 1, (flags & is_prefetchable) != 0,
                      (flags & is_64_bit_memory) != 0});
    }
    ++number;
  }
  return bars;
}

void read_bars(const System& system, PciNode& node) {
  const auto path = pci_path(node.bdf, "resource");
  const auto text = system.read(path, attribute_limit);
  if (!text) {
    node.bars_error = text.error();
    return;
  }
  auto bars = parse_resource(*text);
  if (bars) {
    node.bars = std::move(*bars);
  } else {
    node.bars_error =
        Error{bars.error().code, fmt::format("'{}': {}", system.shown(path), bars.error().message)};
  }
}

/// Vendor, device and class. Errors: those of the first that can't be read.
Result<> read_ids(const System& system, PciNode& node) {
  const auto vendor = read_pci_id(system, pci_path(node.bdf, "vendor"), 4);
  const auto device = read_pci_id(system, pci_path(node.bdf, "device"), 4);
  const auto class_code = read_pci_id(system, pci_path(node.bdf, "class"), 6);
  if (vendor) node.vendor = static_cast<std::uint16_t>(*vendor);
  if (device) node.device = static_cast<std::uint16_t>(*device);
  if (class_code) node.class_code = *class_code;
  if (!vendor) return fail(vendor.error());
  if (!device) return fail(device.error());
  if (!class_code) return fail(class_code.error());
  return {};
}

/// `error` with the file that it's about.
Error in_file(const System& system, const std::string& path, Error error) {
  error.message = fmt::format("'{}': {}", system.shown(path), error.message);
  return error;
}

/// Bytes that aren't this function's would pass for a function without ACS. A virtual function's
/// ids aren't in its own space: they read as ones, and its physical function's registers count.
Result<> confirm_own(const PciConfig& config, const PciNode& node) {
  const auto vendor = config.word(0);
  const auto device = config.word(2);
  if (!vendor || !device || (*vendor == 0xffff && *device == 0xffff)) return {};
  if (*vendor == node.vendor && *device == node.device) return {};
  return fail(Errc::malformed, fmt::format("it begins with {:04x}:{:04x}, but the function is "
                                           "{:04x}:{:04x}",
                                           *vendor, *device, node.vendor, node.device));
}

void read_registers(const System& system, PciNode& node) {
  const auto ids = read_ids(system, node);
  const auto path = pci_path(node.bdf, "config");
  auto bytes = system.read_range(path, 0, PciConfig::extended_size);
  if (!ids || !bytes) {
    const auto& error = ids ? bytes.error() : ids.error();
    node.type = fail(error);
    node.acs = fail(error);
    return;
  }
  const PciConfig config(std::move(*bytes));
  if (const auto own = confirm_own(config, node); !own) {
    const auto error = in_file(system, path, own.error());
    node.type = fail(error);
    node.acs = fail(error);
    return;
  }
  node.buses = config.buses();
  node.type = config.port_type().map_error(
      [&](Error error) { return in_file(system, path, std::move(error)); });
  node.acs = config.acs(node.vendor, node.device).map_error([&](Error error) {
    return in_file(system, path, std::move(error));
  });
}

PciNode read_node(const System& system, const std::string& bdf) {
  PciNode node;
  node.bdf = bdf;
  read_registers(system, node);
  read_link(system, node);
  read_bars(system, node);
  if (const auto numa = read_attribute(system, bdf, "numa_node"); numa && *numa) {
    if (const auto number = parse_number(**numa)) node.numa_node = static_cast<int>(*number);
  }
  if (const auto removable = read_attribute(system, bdf, "removable"); removable && *removable) {
    if (**removable == "removable") node.removable = true;
    if (**removable == "fixed") node.removable = false;
  }
  return node;
}

std::optional<std::uint64_t> bus_of(const std::string& bdf) {
  const auto parts = split(bdf, ':');
  return parts.size() == 3 ? parse_number(parts[1], 16) : std::nullopt;
}

/// Bridges that are missing from a tree would make functions meet in the root complex that meet in
/// a switch: so a function's bus has to be the one that its bridge, or the root bus, says it has.
/// Nothing where the bridge's numbers can't be read: then its ACS can't either. Virtual functions
/// may be on other buses.
std::optional<Error> misplaced(const PciNode& node, const PciNode* parent) {
  if (node.physical_function) return std::nullopt;
  const auto bus = bus_of(node.bdf);
  if (parent == nullptr) {
    const auto root_bus =
        parse_number(node.host_bridge.substr(node.host_bridge.rfind(':') + 1), 16);
    if (bus == root_bus) return std::nullopt;
  } else if (!parent->buses || bus == parent->buses->secondary) {
    return std::nullopt;
  }
  return Error{Errc::malformed,
               fmt::format("'{}' isn't on a bus of '{}', below which it stands", node.bdf,
                           parent == nullptr ? node.host_bridge : parent->bdf)};
}

/// The physical function of a virtual one.
Result<std::optional<std::string>> read_physical(const System& system, const std::string& bdf) {
  auto physical = read_link_name(system, pci_path(bdf, "physfn"));
  if (physical && *physical && !is_pci_address(**physical)) return std::nullopt;
  return physical;
}

/// Adds the function and what's above it, as far as they aren't in the tree yet.
Result<> add(const System& system, const std::string& bdf, PciTree& tree) {
  if (tree.nodes.contains(bdf)) return {};
  const auto place = find_place(system, bdf);
  if (!place) return fail(place.error());
  const PciNode* parent = nullptr;
  for (const auto& name : place->chain) {
    if (!tree.nodes.contains(name)) {
      auto node = read_node(system, name);
      node.host_bridge = place->host_bridge;
      if (parent != nullptr) node.parent = parent->bdf;
      auto physical = read_physical(system, name);
      if (!physical) return fail(physical.error());
      node.physical_function = std::move(*physical);
      node.parent_error = misplaced(node, parent);
      tree.nodes.emplace(name, std::move(node));
    }
    parent = &tree.nodes.at(name);
  }
  const auto& physical = tree.nodes.at(bdf).physical_function;
  return physical ? add(system, *physical, tree) : Result<>{};
}

/// The function that has the registers, and every bridge above it, lowest first.
std::vector<std::string> way_up(const PciTree& tree, const std::string& bdf) {
  const auto* node = tree.find(bdf);
  if (node != nullptr && node->physical_function) {
    if (const auto* physical = tree.find(*node->physical_function)) node = physical;
  }
  std::vector<std::string> way;
  while (node != nullptr && way.size() <= tree.nodes.size()) {
    way.push_back(node->bdf);
    node = node->parent ? tree.find(*node->parent) : nullptr;
  }
  return way;
}

}  // namespace

std::string_view name_of(PortType type) {
  switch (type) {
    case PortType::endpoint:
      return "endpoint";
    case PortType::root_port:
      return "root port";
    case PortType::upstream_port:
      return "switch upstream port";
    case PortType::downstream_port:
      return "switch downstream port";
    case PortType::pcie_to_pci:
      return "PCI Express to PCI bridge";
    case PortType::pci_to_pcie:
      return "PCI to PCI Express bridge";
    case PortType::conventional:
      break;
  }
  return "conventional PCI";
}

const PciNode* PciTree::find(const std::string& bdf) const {
  const auto found = nodes.find(bdf);
  return found == nodes.end() ? nullptr : &found->second;
}

PciPath PciTree::path(const std::string& from, const std::string& to) const {
  PciPath path;
  const auto* const first = find(from);
  const auto* const second = find(to);
  path.same_host_bridge =
      first != nullptr && second != nullptr && first->host_bridge == second->host_bridge;
  path.from = way_up(*this, from);
  path.to = way_up(*this, to);
  // From the top down: the last bridge that's on both ways is the common one.
  while (path.from.size() > 1 && path.to.size() > 1 && path.from.back() == path.to.back()) {
    path.common = path.from.back();
    path.from.pop_back();
    path.to.pop_back();
  }
  return path;
}

std::optional<PciLink> read_pci_link(const System& system, const std::string& bdf) {
  PciNode node;
  node.bdf = bdf;
  read_link(system, node);
  return node.link;
}

Result<PciTree> read_pci_tree(const System& system, const std::vector<std::string>& bdfs) {
  PciTree tree;
  for (const auto& bdf : bdfs) {
    if (const auto added = add(system, bdf, tree); !added) return fail(added.error());
  }
  tree.devices = bdfs;
  std::sort(tree.devices.begin(), tree.devices.end());
  tree.devices.erase(std::unique(tree.devices.begin(), tree.devices.end()), tree.devices.end());
  return tree;
}

}  // namespace peerpath::probe
