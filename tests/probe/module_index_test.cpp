// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/module_index.hpp"

#include "support/catch.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace peerpath::probe {
namespace {

std::string number(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8)
    text += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xffU);
  return text;
}

std::string index_of(std::uint32_t root, const std::string& nodes) {
  return number(0xb007f457) + number(0x00020001) + number(root) + nodes;
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("is_whole_index: depmod's own → whole; cut off anywhere → not") {
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::string(PEERPATH_TESTS_DIR) + "/fixtures/modules")) {
    if (entry.path().extension() != ".bin" || entry.file_size() == 0) continue;
    INFO(entry.path().string());
    const auto content = content_of(entry.path());
    CHECK(is_whole_index(content));
    for (std::size_t length = 0; length < content.size(); ++length)
      REQUIRE_FALSE(is_whole_index(content.substr(0, length)));
    ++count;
  }
  CHECK(count >= 12);
}

TEST_CASE("is_whole_index: an empty one → whole; another magic or version → not") {
  CHECK(is_whole_index(index_of(0, "")));
  CHECK_FALSE(is_whole_index(""));
  CHECK_FALSE(is_whole_index(number(0xb007f458) + number(0x00020001) + number(0)));
  CHECK_FALSE(is_whole_index(number(0xb007f457) + number(0x00030001) + number(0)));
}

TEST_CASE("is_whole_index: nodes that libkmod would follow out of the file or for ever → not") {
  constexpr std::uint32_t prefix = 0x80000000;
  constexpr std::uint32_t values = 0x40000000;
  constexpr std::uint32_t children = 0x20000000;
  using namespace std::string_literals;
  CHECK(is_whole_index(index_of(12 | prefix, "nvidia\0"s)));
  CHECK_FALSE(is_whole_index(index_of(12 | prefix, "nvidia")));
  CHECK(is_whole_index(index_of(12 | values, number(1) + number(0) + "path:\0"s)));
  CHECK_FALSE(is_whole_index(index_of(12 | values, number(2) + number(0) + "path:\0"s)));
  CHECK_FALSE(is_whole_index(index_of(12 | values, number(0xffffffff))));
  CHECK_FALSE(is_whole_index(index_of(500 | values, number(0))));
  CHECK(is_whole_index(index_of(16 | children, number(0) + "aa" + number(12 | values))));
  // Children come first with Debian 12's depmod, last with Debian 13's.
  CHECK(is_whole_index(index_of(12 | children, "aa" + number(18 | values) + number(0))));
  // A node that is its own child, and a range that's upside down.
  CHECK_FALSE(is_whole_index(index_of(12 | children, "aa" + number(12 | children))));
  CHECK_FALSE(is_whole_index(index_of(16 | children, number(0) + "ba" + number(12 | values))));
}

TEST_CASE(
    "is_whole_index: a tree that is deeper than any alias, or that has shared branches → not") {
  constexpr std::uint32_t children = 0x20000000;
  constexpr std::uint32_t values = 0x40000000;
  std::string deep = number(0);
  std::string shared = number(0);
  std::uint32_t below = 12 | values;
  std::uint32_t both = 12 | values;
  for (int i = 0; i < 4000; ++i) {
    const auto place = static_cast<std::uint32_t>(12 + deep.size());
    deep += "aa" + number(below);
    below = place | children;
  }
  for (int i = 0; i < 60; ++i) {
    const auto place = static_cast<std::uint32_t>(12 + shared.size());
    shared += "ab" + number(both) + number(both);
    both = place | children;
  }
  CHECK_FALSE(is_whole_index(index_of(below, deep)));
  CHECK_FALSE(is_whole_index(index_of(both, shared)));
}

}  // namespace peerpath::probe
