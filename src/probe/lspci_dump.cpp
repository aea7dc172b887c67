// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/lspci_dump.hpp"

#include "base/text.hpp"
#include "probe/pci_attribute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace peerpath::probe {
namespace {

constexpr std::size_t bytes_a_line = 16;

tl::unexpected<Error> at_line(std::size_t number, std::string_view what) {
  return fail(Errc::malformed, fmt::format("line {}: {}", number, what));
}

std::optional<unsigned> parse_hex(std::string_view text, std::size_t least, std::size_t most) {
  if (text.size() < least || text.size() > most || !is_hex(text)) return std::nullopt;
  const auto number = parse_number(text, 16);
  return number ? std::optional(static_cast<unsigned>(*number)) : std::nullopt;
}

/// The offset that a line of bytes begins with, "1f0:".
std::optional<std::size_t> parse_offset(std::string_view word) {
  if (!word.ends_with(':')) return std::nullopt;
  return parse_hex(word.substr(0, word.size() - 1), 2, 3);
}

/// What follows the offset; nothing where it isn't all of a line.
std::optional<std::string> parse_bytes(const std::vector<std::string_view>& fields) {
  if (fields.size() != bytes_a_line + 1) return std::nullopt;
  std::string bytes;
  for (const auto field : std::vector(fields.begin() + 1, fields.end())) {
    const auto byte = parse_hex(field, 2, 2);
    if (!byte) return std::nullopt;
    bytes += static_cast<char>(*byte);
  }
  return bytes;
}

/// Takes a dump's lines one after the other.
class Parser {
 public:
  Result<> take(std::string_view line) {
    ++number_;
    const auto fields = words(line);
    // Descriptions begin with a tab, or with what became of it on the way.
    if (fields.empty() || line.front() == ' ' || line.front() == '\t') return {};
    if (const auto bdf = whole_pci_address(fields[0])) {
      const auto [place, is_new] = functions_.emplace(*bdf, "");
      if (!is_new) return at_line(number_, fmt::format("{} is there already", *bdf));
      bytes_ = &place->second;
      return {};
    }
    const auto offset = parse_offset(fields[0]);
    if (!offset) return at_line(number_, "neither a function's address nor its bytes");
    if (bytes_ == nullptr) return at_line(number_, "bytes before any function");
    if (*offset != bytes_->size()) {
      return at_line(number_, fmt::format("bytes at {:#x} where those at {:#x} come next", *offset,
                                          bytes_->size()));
    }
    const auto bytes = parse_bytes(fields);
    if (!bytes) return at_line(number_, fmt::format("not {} bytes", bytes_a_line));
    *bytes_ += *bytes;
    return {};
  }

  Result<LspciDump> finish() {
    LspciDump dump;
    std::size_t all = 0;
    for (auto& [bdf, bytes] : functions_) {
      all += bytes.size();
      dump.emplace(bdf, PciConfig(std::move(bytes)));
    }
    if (all > 0) return dump;
    return fail(Errc::malformed,
                "no function's configuration space is in it, as 'lspci -xxxx' prints it");
  }

 private:
  std::size_t number_ = 0;
  std::map<std::string, std::string> functions_;
  std::string* bytes_ = nullptr;  ///< of the function that the lines are about
};

struct Ids {
  std::uint16_t vendor = 0;
  std::uint16_t device = 0;
  std::uint32_t class_code = 0;
};

constexpr std::uint16_t all_ones = 0xffff;
constexpr std::uint32_t no_class = 0xffffff;

Ids ids_of(const PciConfig& config) {
  return {config.word(0).value_or(all_ones), config.word(2).value_or(all_ones),
          config.dword(8).value_or(0xffffffff) >> 8U};
}

/// Whether the dump has the ids, or why it doesn't. A virtual function's read as all ones.
/// Fact: PCIe Base Specification 9.3.4.1.1, Vendor ID of a VF.
Result<> confirm_ids(const PciConfig& config) {
  const auto ids = ids_of(config);
  if (config.size() == 0) {
    return fail(Errc::unsupported, "nothing of its configuration space is in the dump");
  }
  // Those of a function that's gone: it has an error of its own.
  if (ids.vendor != all_ones || ids.class_code == no_class) return {};
  return fail(
      Errc::unsupported,
      "it's a virtual function: its physical function's registers count, and a dump doesn't "
      "tell which that is");
}

/// The configuration space's own words are about a file that's read now.
Error in_dump(Error error) {
  if (error.code != Errc::denied) return error;
  return {Errc::unsupported, "only 64 bytes of its configuration space are in the dump"};
}

PciNode node_of(const std::string& bdf, const PciConfig& config) {
  PciNode node;
  node.bdf = bdf;
  node.bars_error = Error{Errc::unsupported, "sizes of BARs are not in the dump"};
  if (const auto confirmed = confirm_ids(config); !confirmed) {
    node.type = fail(confirmed.error());
    node.acs = fail(confirmed.error());
    node.link_error = confirmed.error();
    return node;
  }
  const auto ids = ids_of(config);
  node.vendor = ids.vendor;
  node.device = ids.device;
  node.class_code = ids.class_code;
  node.type = config.port_type().map_error(in_dump);
  node.acs = config.acs(ids.vendor, ids.device).map_error(in_dump);
  if (const auto link = config.link()) {
    node.link = *link;
  } else {
    node.link_error = in_dump(link.error());
  }
  return node;
}

PciDevice device_of(const std::string& bdf, const PciConfig& config) {
  PciDevice device;
  device.bdf = bdf;
  const auto ids = ids_of(config);
  device.vendor = ids.vendor;
  device.device = ids.device;
  device.class_code = ids.class_code;
  device.group_type = fail(Errc::unsupported, "not in the dump");
  return device;
}

bool may_match(const PciMatch& match, const Ids& ids) {
  if (ids.class_code == no_class) return true;
  if (!class_matches(match, ids.class_code)) return false;
  if (ids.vendor == all_ones) return true;
  return match.vendor.value_or(ids.vendor) == ids.vendor &&
         match.device.value_or(ids.device) == ids.device;
}

/// "0000:3b" of "0000:3b:00.0".
std::string bus_of(const std::string& bdf) {
  return bdf.substr(0, bdf.rfind(':'));
}

/// A dump is often an excerpt, so that no bridge above is no sign that there's none.
Result<> confirm_on_root_bus(const std::string& bdf, const PciConfig& config) {
  const auto type = config.port_type().map_error(in_dump);
  if (!type) {
    return fail(
        type.error().code,
        "no bridge above it is in the dump, and its own type isn't known: " + type.error().text());
  }
  if (*type == PortType::root_port) return {};
  // No bridge leads to bus 0.
  if (bus_of(bdf).ends_with(":00") && !config.needs_port_above()) return {};
  return fail(Errc::not_found, "the bridge above it isn't in the dump");
}

class TreeBuilder {
 public:
  explicit TreeBuilder(const LspciDump& dump) : dump_(dump) {
    for (const auto& [bdf, config] : dump) {
      const auto buses = config.buses();
      const auto own = parse_hex(bdf.substr(bdf.rfind(':') - 2, 2), 2, 2);
      // A bus has a greater number than those above it, so that there are no circles.
      if (!buses || !own || buses->secondary <= *own) continue;
      const auto domain = bdf.substr(0, bdf.find(':'));
      bridges_[fmt::format("{}:{:02x}", domain, buses->secondary)].push_back(bdf);
    }
  }

  PciTree build(const std::vector<std::string>& bdfs) {
    for (const auto& bdf : bdfs)
      add(bdf);
    tree_.devices = bdfs;
    std::sort(tree_.devices.begin(), tree_.devices.end());
    tree_.devices.erase(std::unique(tree_.devices.begin(), tree_.devices.end()),
                        tree_.devices.end());
    return std::move(tree_);
  }

 private:
  /// Adds what isn't in the tree yet; returns the root bus that it's under.
  std::string add(const std::string& bdf) {
    if (const auto* known = tree_.find(bdf)) return known->host_bridge;
    auto node = node_of(bdf, dump_.at(bdf));
    find_parent(node);
    const auto unknown = fmt::format("pci{}:??", bdf.substr(0, bdf.find(':')));
    if (node.parent) {
      node.host_bridge = add(*node.parent);
    } else {
      node.host_bridge = node.parent_error ? unknown : "pci" + bus_of(bdf);
    }
    auto host_bridge = node.host_bridge;
    tree_.nodes.emplace(bdf, std::move(node));
    return host_bridge;
  }

  void find_parent(PciNode& node) const {
    const auto above = bridges_.find(bus_of(node.bdf));
    if (above == bridges_.end()) {
      const auto confirmed = confirm_on_root_bus(node.bdf, dump_.at(node.bdf));
      if (!confirmed) node.parent_error = confirmed.error();
    } else if (above->second.size() > 1) {
      node.parent_error = Error{Errc::malformed,
                                fmt::format("by their bus numbers several bridges are above it: {}",
                                            join(above->second, ", "))};
    } else {
      node.parent = above->second.front();
    }
  }

  const LspciDump& dump_;
  std::map<std::string, std::vector<std::string>> bridges_;  ///< by the bus behind them
  PciTree tree_;
};

}  // namespace

Result<LspciDump> parse_lspci_dump(std::string_view text) {
  Parser parser;
  for (const auto line : lines(text)) {
    if (auto taken = parser.take(line); !taken) return fail(taken.error());
  }
  return parser.finish();
}

std::vector<PciDevice> find_pci_devices(const LspciDump& dump,
                                        const std::vector<PciMatch>& matches) {
  std::vector<PciDevice> devices;
  for (const auto& [bdf, config] : dump) {
    const auto ids = ids_of(config);
    const auto matched = [&](const PciMatch& match) { return may_match(match, ids); };
    if (std::any_of(matches.begin(), matches.end(), matched)) {
      devices.push_back(device_of(bdf, config));
    }
  }
  return devices;
}

Result<std::vector<PciDevice>> read_pci_devices(const LspciDump& dump,
                                                const std::vector<std::string>& bdfs) {
  std::vector<PciDevice> devices;
  for (const auto& given : bdfs) {
    const auto bdf = whole_pci_address(given);
    if (!bdf) return fail(bdf.error());
    const auto found = dump.find(*bdf);
    if (found == dump.end()) {
      return fail(Errc::not_found, fmt::format("'{}': no such PCI function in the dump", *bdf));
    }
    devices.push_back(device_of(*bdf, found->second));
  }
  return devices;
}

PciTree read_pci_tree(const LspciDump& dump, const std::vector<std::string>& bdfs) {
  return TreeBuilder(dump).build(bdfs);
}

}  // namespace peerpath::probe
