// SPDX-License-Identifier: GPL-2.0-or-later
// The PCIe tree as a drawing, from the host bridges at the left to the devices at the right.
#include "base/text.hpp"
#include "report/device_tree.hpp"
#include "report/html_parts.hpp"
#include "report/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace peerpath::report {
namespace {

using check::Status;

constexpr int box_height = 58;
constexpr int row_height = 70;
constexpr int bridge_width = 170;
constexpr int device_width = 310;
constexpr int gap = 38;

/// A host bridge, or a node. The lists below are in the order of the drawing, parents first.
struct Box {
  const TopologyNode* node = nullptr;  ///< nothing for a host bridge
  std::string host_bridge = {};
  std::size_t parent = 0;  ///< its own index for a host bridge
  std::size_t depth = 0;
  int x = 0;
  int y = 0;
  std::vector<std::size_t> children = {};

  [[nodiscard]] bool is_device() const { return node != nullptr && node->iommu.has_value(); }
  [[nodiscard]] int width() const { return is_device() ? device_width : bridge_width; }
};

/// A text of a box, with as many characters as have room at about 7 pixels each.
std::string text_at(int x, int y, std::string_view css, std::string_view text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", x, y, css, escaped(text));
}

std::string fitting(const std::string& text, int width) {
  return shortened(printable(text), static_cast<std::size_t>(width) / 7, "…");
}

class Drawing {
 public:
  explicit Drawing(const Topology& topology) : tree_(topology) {
    for (const auto& host_bridge : tree_.host_bridges()) {
      const auto index = boxes_.size();
      boxes_.push_back({.host_bridge = host_bridge, .parent = index});
      add_below(index, tree_.roots(host_bridge));
    }
    place_rows();
    place_columns();
  }

  std::string markup() {
    std::string text = fmt::format(
        "<svg role=\"img\" aria-labelledby=\"tree-title tree-desc\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\">\n<title id=\"tree-title\">PCIe tree</title>\n"
        "<desc id=\"tree-desc\">{2} The tables below say the same.</desc>\n",
        width_, height_, summary());
    for (const auto& box : boxes_)
      if (!redirects(box)) text += edge(box);
    // These on top.
    for (const auto& box : boxes_)
      if (redirects(box)) text += edge(box);
    for (const auto& box : boxes_)
      text += drawn(box);
    return text + "</svg>\n";
  }

  [[nodiscard]] std::ptrdiff_t redirect_points() const {
    return std::count_if(boxes_.begin(), boxes_.end(),
                         [&](const Box& box) { return redirects(box); });
  }

 private:
  /// On a way between devices: elsewhere it does no harm.
  [[nodiscard]] bool redirects(const Box& box) const {
    return box.node != nullptr && box.node->acs && !box.node->acs->redirects.empty() &&
           tree_.is_between(*box.node);
  }

  void add_below(std::size_t parent, const DeviceTree::Nodes& nodes) {
    for (const auto* node : nodes) {
      const auto index = boxes_.size();
      boxes_.push_back({.node = node, .parent = parent, .depth = boxes_[parent].depth + 1});
      boxes_[parent].children.push_back(index);
      add_below(index, tree_.children(*node));
    }
  }

  /// A row for each that has nothing below it; the others in the middle of theirs.
  void place_rows() {
    int y = 1;
    for (auto& box : boxes_) {
      if (box.node == nullptr && y > 1) y += row_height / 4;
      if (!box.children.empty()) continue;
      box.y = y;
      y += row_height;
    }
    height_ = y - (row_height - box_height) + 1;
    for (auto box = boxes_.rbegin(); box != boxes_.rend(); ++box) {
      if (box->children.empty()) continue;
      box->y = (boxes_[box->children.front()].y + boxes_[box->children.back()].y) / 2;
    }
  }

  /// A column for each depth; the last one for the devices, wherever they hang.
  void place_columns() {
    std::size_t deepest = 0;
    for (const auto& box : boxes_)
      deepest = std::max(deepest, box.depth);
    std::vector<int> widths(deepest + 1, 0);
    for (auto& box : boxes_) {
      if (box.is_device() && box.children.empty()) box.depth = deepest;
      widths[box.depth] = std::max(widths[box.depth], box.width());
    }
    std::vector<int> lefts;
    for (int x = 1; const auto width : widths) {
      lefts.push_back(x);
      x += width + gap;
    }
    for (auto& box : boxes_) {
      box.x = lefts[box.depth];
      width_ = std::max(width_, box.x + box.width() + 1);
    }
  }

  [[nodiscard]] std::string summary() const {
    const auto devices =
        std::count_if(boxes_.begin(), boxes_.end(), [](const Box& box) { return box.is_device(); });
    const auto points = redirect_points();
    return fmt::format("{} device{} below {} host bridge{}; ACS redirects at {} bridge{}.", devices,
                       devices == 1 ? "" : "s", tree_.host_bridges().size(),
                       tree_.host_bridges().size() == 1 ? "" : "s", points, points == 1 ? "" : "s");
  }

  /// From its parent, in the parent's column up or down. The one above a redirect point is the way
  /// that everything is sent, with an arrow.
  [[nodiscard]] std::string edge(const Box& box) const {
    if (box.node == nullptr) return "";
    const auto& parent = boxes_[box.parent];
    const int middle = box.y + box_height / 2;
    const int from = parent.x + parent.width();
    auto text = fmt::format("<path{} d=\"M{} {}H{}V{}H{}\"/>\n",
                            redirects(box) ? " class=\"redirects\"" : "", from,
                            parent.y + box_height / 2, from + gap / 2, middle, box.x);
    if (redirects(box)) {
      const int tip = box.x - 15;
      text += fmt::format("<polygon points=\"{},{} {},{} {},{}\"/>\n", tip, middle, tip + 13,
                          middle - 8, tip + 13, middle + 8);
    }
    return text;
  }

  [[nodiscard]] std::string drawn(const Box& box) const {
    const auto* css = redirects(box) ? "box redirects" : box.is_device() ? "box device" : "box";
    // What's inside can't get out of the inner drawing, however wide a font is.
    return fmt::format(
        "<g><title>{0}</title><rect class=\"{1}\" x=\"{2}\" y=\"{3}\" width=\"{4}\" "
        "height=\"{5}\" rx=\"7\"/>\n<svg x=\"{2}\" y=\"{3}\" width=\"{4}\" height=\"{5}\">\n{6}"
        "</svg></g>\n",
        escaped(tooltip(box)), css, box.x, box.y, box.width(), box_height, content(box));
  }

  [[nodiscard]] static std::string tooltip(const Box& box) {
    if (box.node == nullptr) return box.host_bridge;
    std::vector<std::string> parts{box.node->bdf, kind_words(*box.node)};
    if (!box.node->name.empty()) parts.push_back(box.node->name);
    if (box.node->iommu) parts.push_back(mode_words(*box.node->iommu));
    if (box.node->acs) {
      const auto& acs = *box.node->acs;
      parts.push_back("ACS: " + (acs.redirects.empty() ? acs.detail : join(acs.redirects, " ")));
    }
    return join(parts, ", ");
  }

  [[nodiscard]] std::string content(const Box& box) const {
    if (box.node == nullptr) {
      return text_at(10, 18, "bdf", fitting(box.host_bridge, bridge_width - 16)) +
             text_at(10, 34, "soft", "host bridge") +
             text_at(10, 50, "soft", fitting(tree_.numa_words(box.host_bridge), bridge_width));
    }
    return box.is_device() ? device(*box.node) : bridge(*box.node);
  }

  [[nodiscard]] static std::string device(const TopologyNode& node) {
    auto text = text_at(10, 18, "bdf", node.bdf);
    if (node.link) text += text_at(device_width - 10, 18, "soft end", link_words(*node.link));
    text += text_at(10, 34, "",
                    fitting(node.name.empty() ? kind_words(node) : node.name, device_width - 20));
    const auto severity = severity_of(node.iommu->mode);
    const auto words =
        fmt::format("{} {}", symbol(severity), fitting(mode_words(*node.iommu), device_width - 40));
    return text +
           fmt::format(
               "<rect class=\"{}\" x=\"8\" y=\"39\" width=\"{}\" height=\"16\" rx=\"8\"/>\n",
               css_class(severity), 14 + 7 * columns(words)) +
           text_at(14, 51, css_class(severity), words);
  }

  [[nodiscard]] std::string bridge(const TopologyNode& node) const {
    auto text = text_at(10, 18, "bdf", node.bdf) +
                text_at(10, 34, "soft", fitting(kind_words(node), bridge_width - 10));
    if (!node.acs) return text;
    // Between a device and itself nothing is redirected.
    const bool counts = tree_.is_between(node);
    const auto words = [&](Status status, std::string_view what) {
      return text_at(10, 50, counts ? css_class(status) : "soft",
                     counts ? fmt::format("{} {}", symbol(status), what) : std::string(what));
    };
    if (!node.acs->redirects.empty()) return text + words(Status::fail, "ACS redirect");
    if (!node.acs->known) return text + words(Status::unknown, "ACS unknown");
    return text + words(Status::ok, "no ACS redirect");
  }

  DeviceTree tree_;
  std::vector<Box> boxes_;
  int width_ = 1;
  int height_ = 1;
};

std::string optional_number(const std::optional<int>& number) {
  return number ? std::to_string(*number) : "–";
}

std::string device_rows(const Topology& topology) {
  std::string text;
  for (const auto& node : topology) {
    if (!node.iommu) continue;
    text += fmt::format(
        "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
        "</tr>\n",
        escaped(node.bdf), escaped(node.name.empty() ? kind_words(node) : node.name),
        badge(severity_of(node.iommu->mode), mode_words(*node.iommu)),
        escaped(node.link ? link_words(*node.link) : "–"), optional_number(node.numa_node));
  }
  return text;
}

/// The bridges whose ACS redirects or isn't known.
std::string redirect_rows(const Topology& topology) {
  const DeviceTree tree(topology);
  std::string text;
  for (const auto& node : topology) {
    if (!node.acs || (node.acs->known && node.acs->redirects.empty())) continue;
    const auto severity = !node.acs->redirects.empty() ? Status::fail : Status::unknown;
    text += fmt::format(
        "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{}</td><td><code>{}</code></td>"
        "<td>{}</td></tr>\n",
        escaped(node.bdf), escaped(kind_words(node)),
        badge(tree.is_between(node) ? severity : Status::not_applicable,
              node.acs->redirects.empty() ? "ACS unknown" : join(node.acs->redirects, " ")),
        escaped(node.acs->detail.empty() ? "–" : node.acs->detail),
        tree.is_between(node) ? "yes" : "no");
  }
  return text;
}

}  // namespace

std::string html_tree(const Topology& topology) {
  Drawing drawing(topology);
  auto text = scrolling("PCIe tree", drawing.markup());
  if (drawing.redirect_points() == 0) return text;
  return text +
         "<p class=\"soft\">A dashed edge with an arrow: at this port ACS sends what a device says "
         "to its peers up to the root complex.</p>\n";
}

std::string html_devices(const Topology& topology) {
  auto text = scrolling(
      "Devices",
      "<table class=\"list\"><caption>Devices</caption><thead><tr><th scope=\"col\">address</th>"
      "<th scope=\"col\">name</th><th scope=\"col\">IOMMU mode</th><th scope=\"col\">link</th>"
      "<th scope=\"col\">NUMA node</th></tr></thead>\n<tbody>" +
          device_rows(topology) + "</tbody></table>\n");
  const auto redirects = redirect_rows(topology);
  if (redirects.empty()) {
    return text + "<p>Redirect points: none among the bridges above these devices.</p>\n";
  }
  return text + scrolling("Redirect points",
                          "<table class=\"list\"><caption>Redirect points</caption><thead><tr>"
                          "<th scope=\"col\">bridge</th><th scope=\"col\">kind</th>"
                          "<th scope=\"col\">redirects</th><th scope=\"col\">read from</th>"
                          "<th scope=\"col\">between devices</th></tr></thead>\n<tbody>" +
                              redirects + "</tbody></table>\n");
}

}  // namespace peerpath::report
