// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/tree_text.hpp"

#include "base/text.hpp"
#include "report/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace peerpath::report {
namespace {

using check::Translation;
using Nodes = std::vector<const TopologyNode*>;

constexpr std::string_view green = "\033[32m";
constexpr std::string_view red = "\033[1;31m";
constexpr std::string_view magenta = "\033[1;35m";
constexpr std::string_view plain;

struct Branches {
  std::string_view child, last_child, below, below_last;
};
constexpr Branches unicode_branches{"├─ ", "└─ ", "│  ", "   "};
constexpr Branches ascii_branches{"|- ", "`- ", "|  ", "   "};

/// A part of a line, without line end.
struct Part {
  std::string text;
  std::string_view colour = plain;
};

Part mode_part(const TopologyNode::Iommu& iommu) {
  switch (iommu.mode) {
    case Translation::identity:
      return {"identity", green};
    case Translation::no_iommu:
      return {"no IOMMU", green};
    case Translation::translated:
      return {iommu.detail.empty() ? "translated" : printable(iommu.detail), red};
    case Translation::unusable:
      return {iommu.detail.empty() ? "unusable" : printable(iommu.detail), red};
    case Translation::unknown:
      break;
  }
  return {"IOMMU mode unknown", magenta};
}

Part acs_part(const TopologyNode::Acs& acs, bool is_between) {
  const auto colour = [&](std::string_view wanted) { return is_between ? wanted : plain; };
  if (!acs.known) return {"ACS unknown", colour(magenta)};
  if (acs.redirects.empty()) return {"no ACS redirect", colour(green)};
  return {"ACS redirect: " + printable(join(acs.redirects, " ")), colour(red)};
}

std::string link_words(const TopologyNode::Link& link) {
  std::vector<std::string> words;
  if (link.speed > 0) words.push_back(fmt::format("{:g} GT/s", link.speed));
  if (link.width > 0) words.push_back(fmt::format("x{}", link.width));
  if (link.width > 0 && link.width < link.max_width) {
    words.push_back(fmt::format("of x{}", link.max_width));
  }
  return join(words, " ");
}

std::string kind_words(const TopologyNode& node) {
  auto words = printable(node.kind);
  std::replace(words.begin(), words.end(), '-', ' ');
  return words;
}

class Tree {
 public:
  Tree(const Topology& topology, const TextStyle& style)
      : style_(style), branches_(style.unicode ? unicode_branches : ascii_branches) {
    for (const auto& node : topology)
      bdfs_.insert(node.bdf);
    for (const auto& node : topology) {
      if (has_parent(node)) {
        children_[*node.parent].push_back(&node);
      } else {
        add_root(node);
      }
    }
    count_devices(topology);
  }

  std::string text() {
    for (const auto& host_bridge : host_bridges_) {
      text_ += printable(host_bridge) + numa_words(host_bridge) + "\n";
      add_below(roots_[host_bridge], "");
    }
    return std::move(text_);
  }

 private:
  [[nodiscard]] bool has_parent(const TopologyNode& node) const {
    return node.parent && bdfs_.count(*node.parent) != 0;
  }

  void add_root(const TopologyNode& node) {
    auto& roots = roots_[node.host_bridge];
    if (roots.empty()) host_bridges_.push_back(node.host_bridge);
    roots.push_back(&node);
  }

  /// How many devices there are at each node and below it. A node comes after its parent.
  void count_devices(const Topology& topology) {
    for (auto node = topology.rbegin(); node != topology.rend(); ++node) {
      auto& devices = devices_[node->bdf];
      if (node->iommu) ++devices;
      (has_parent(*node) ? devices_[*node->parent] : all_devices_) += devices;
    }
    for (const auto& node : topology) {
      if (node.numa_node) numa_nodes_[node.host_bridge].insert(*node.numa_node);
    }
  }

  /// Whether a path between two devices passes through this bridge: one of them isn't below it, or
  /// it's the lowest bridge above both.
  [[nodiscard]] bool is_between(const TopologyNode& node) const {
    const auto below = devices_.at(node.bdf);
    if (below > 0 && below < all_devices_) return true;
    const auto children = children_.find(node.bdf);
    if (children == children_.end()) return false;
    const auto has_devices = [&](const auto* child) { return devices_.at(child->bdf) > 0; };
    return std::count_if(children->second.begin(), children->second.end(), has_devices) > 1;
  }

  [[nodiscard]] std::string numa_words(const std::string& host_bridge) const {
    const auto found = numa_nodes_.find(host_bridge);
    if (found == numa_nodes_.end()) return "";
    std::vector<std::string> numbers;
    for (const int number : found->second)
      numbers.push_back(std::to_string(number));
    return fmt::format("  NUMA node{} {}", numbers.size() > 1 ? "s" : "", join(numbers, ", "));
  }

  void add_below(const Nodes& nodes, const std::string& indent) {
    for (const auto* node : nodes) {
      const bool is_last = node == nodes.back();
      add_line(*node, indent + std::string(is_last ? branches_.last_child : branches_.child));
      const auto children = children_.find(node->bdf);
      if (children == children_.end()) continue;
      add_below(children->second,
                indent + std::string(is_last ? branches_.below_last : branches_.below));
    }
  }

  void add_line(const TopologyNode& node, const std::string& branch) {
    std::vector<Part> parts{{printable(node.bdf)}};
    if (node.iommu) {
      parts.push_back(mode_part(*node.iommu));
      if (node.link) parts.push_back({link_words(*node.link)});
    } else {
      parts.push_back({kind_words(node)});
      if (node.acs) parts.push_back(acs_part(*node.acs, is_between(node)));
    }
    text_ += branch;
    auto used = columns(branch);
    for (const auto& part : parts) {
      if (part.text.empty()) continue;
      if (&part != &parts.front()) {
        text_ += "  ";
        used += 2;
      }
      text_ += painted(part);
      used += columns(part.text);
    }
    if (node.iommu) add_name(node, used);
    text_ += '\n';
  }

  void add_name(const TopologyNode& node, std::size_t used) {
    constexpr std::size_t worth_it = 8;
    if (used + 2 + worth_it > style_.width) return;
    const auto name = node.name.empty() ? kind_words(node) : printable(node.name);
    text_ += "  " + shortened(name, style_.width - used - 2, style_.unicode ? "…" : "...");
  }

  [[nodiscard]] std::string painted(const Part& part) const {
    if (!style_.colour || part.colour.empty()) return part.text;
    return fmt::format("{}{}\033[0m", part.colour, part.text);
  }

  const TextStyle& style_;
  const Branches& branches_;
  std::set<std::string> bdfs_;
  std::map<std::string, Nodes> children_;  ///< by the BDF above them
  std::vector<std::string> host_bridges_;  ///< in the topology's order
  std::map<std::string, Nodes> roots_;     ///< by their host bridge
  std::map<std::string, std::set<int>> numa_nodes_;
  std::map<std::string, std::size_t> devices_;
  std::size_t all_devices_ = 0;
  std::string text_;
};

}  // namespace

std::string tree_text(const Topology& topology, const TextStyle& style) {
  return Tree(topology, style).text();
}

}  // namespace peerpath::report
