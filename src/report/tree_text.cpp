// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/tree_text.hpp"

#include "base/text.hpp"
#include "report/device_tree.hpp"
#include "report/layout.hpp"

#include <fmt/format.h>

#include <string_view>

namespace peerpath::report {
namespace {

using check::Translation;

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

class TreeText {
 public:
  TreeText(const Topology& topology, const TextStyle& style)
      : tree_(topology),
        style_(style),
        branches_(style.unicode ? unicode_branches : ascii_branches) {}

  std::string text() {
    for (const auto& host_bridge : tree_.host_bridges()) {
      const auto numa = tree_.numa_words(host_bridge);
      text_ += printable(host_bridge) + (numa.empty() ? "" : "  " + numa) + "\n";
      add_below(tree_.roots(host_bridge), "");
    }
    return std::move(text_);
  }

 private:
  void add_below(const DeviceTree::Nodes& nodes, const std::string& indent) {
    for (const auto* node : nodes) {
      const bool is_last = node == nodes.back();
      add_line(*node, indent + std::string(is_last ? branches_.last_child : branches_.child));
      add_below(tree_.children(*node),
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
      if (node.acs) parts.push_back(acs_part(*node.acs, tree_.is_between(node)));
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

  DeviceTree tree_;
  const TextStyle& style_;
  const Branches& branches_;
  std::string text_;
};

}  // namespace

std::string tree_text(const Topology& topology, const TextStyle& style) {
  return TreeText(topology, style).text();
}

}  // namespace peerpath::report
