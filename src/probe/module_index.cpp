// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/module_index.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace peerpath::probe {
namespace {

constexpr std::uint32_t magic = 0xb007f457;
constexpr std::uint32_t major_version = 2;
constexpr std::uint32_t has_prefix = 0x80000000;
constexpr std::uint32_t has_values = 0x40000000;
constexpr std::uint32_t has_children = 0x20000000;
constexpr std::uint32_t offset_mask = 0x0fffffff;
/// Aliases are far shorter; libkmod goes down by recursion. This ends loops, too; the order of
/// the nodes can't: Debian 12's depmod (kmod 30) writes children first, Debian 13's (34) parents.
constexpr std::size_t most_levels = 2048;

/// Reads forward in the content; all numbers are big-endian. Nothing at its end.
class Reader {
 public:
  Reader(std::string_view content, std::size_t offset) : content_(content), offset_(offset) {}

  std::optional<std::uint32_t> number(std::size_t bytes = 4) {
    if (offset_ > content_.size() || content_.size() - offset_ < bytes) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      value = value << 8U | static_cast<unsigned char>(content_[offset_++]);
    return value;
  }
  bool skip_text() {
    const auto end = content_.find('\0', offset_);
    if (end == std::string_view::npos) return false;
    offset_ = end + 1;
    return true;
  }

 private:
  std::string_view content_;
  std::size_t offset_;
};

struct Node {
  std::uint32_t place = 0;  ///< the offset with what the node has
  std::size_t level = 0;
};

bool read_children(Reader& reader, const Node& node, std::vector<Node>& pending) {
  const auto first = reader.number(1);
  const auto last = reader.number(1);
  if (!first || !last || *first > *last || node.level == most_levels) return false;
  for (auto i = *first; i <= *last; ++i) {
    const auto child = reader.number();
    if (!child) return false;
    if ((*child & offset_mask) == 0) continue;
    pending.push_back({*child, node.level + 1});
  }
  return true;
}

bool read_values(Reader& reader) {
  const auto count = reader.number();
  if (!count) return false;
  for (std::uint32_t i = 0; i < *count; ++i) {
    if (!reader.number() || !reader.skip_text()) return false;
  }
  return true;
}

bool read_node(std::string_view content, const Node& node, std::vector<Node>& pending) {
  Reader reader(content, node.place & offset_mask);
  if ((node.place & has_prefix) != 0 && !reader.skip_text()) return false;
  if ((node.place & has_children) != 0 && !read_children(reader, node, pending)) return false;
  return (node.place & has_values) == 0 || read_values(reader);
}

}  // namespace

bool is_whole_index(std::string_view content) {
  Reader header(content, 0);
  const auto found = header.number();
  const auto version = header.number();
  const auto root = header.number();
  if (!root || found != magic || *version >> 16U != major_version) return false;
  std::vector<Node> pending;
  if ((*root & offset_mask) != 0) pending.push_back({*root, 0});
  // A tree has fewer nodes than bytes; what has more leads to the same place several times.
  std::size_t left = content.size();
  while (!pending.empty()) {
    const auto node = pending.back();
    pending.pop_back();
    if (left-- == 0 || !read_node(content, node, pending)) return false;
  }
  return true;
}

}  // namespace peerpath::probe
