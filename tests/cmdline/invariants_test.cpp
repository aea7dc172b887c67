// SPDX-License-Identifier: GPL-2.0-or-later
#include "invariants.hpp"

#include "base/text.hpp"
#include "support/catch.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

using namespace peerpath;

namespace {

// Fixed seeds: a failure must come again. The generator's own numbers are the same everywhere,
// those of the standard distributions aren't.
class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t limit) { return engine_() % limit; }

 private:
  std::mt19937 engine_;
};

std::string random_bytes(Dice& dice) {
  std::string text(dice.below(300), '\0');
  for (auto& byte : text)
    byte = static_cast<char>(dice.below(256));
  return text;
}

/// Pieces of words, separators and quotes strung together: much closer to trouble than bytes.
std::string random_line(Dice& dice) {
  static constexpr std::string_view pieces[] = {
      "iommu",       "iommu.passthrough",
      "intel_iommu", "amd_iommu",
      "intel-iommu", "iommu.strict",
      "=",           "=",
      "=",           "pt",
      "nopt",        "off",
      "on",          "usedac",
      "PT",          "1",
      "0",           "yes",
      "f",           "true",
      "enable",      ",",
      ",",           " ",
      " ",           " ",
      " ",           "\t",
      "\"",          "\"",
      "'",           "--",
      " -- ",        "quiet",
      "\xA0",        "x",
  };
  std::string line;
  // One in eight is long enough to be cut.
  if (dice.below(8) == 0) line.assign(500 + dice.below(1600), dice.below(2) == 0 ? ' ' : 'x');
  for (auto left = dice.below(24); left > 0; --left)
    line += pieces[dice.below(std::size(pieces))];
  return line;
}

}  // namespace

TEST_CASE("invariants: random bytes → all hold") {
  Dice dice(1);
  for (int i = 0; i < 100; ++i) {
    const auto text = random_bytes(dice);
    const auto broken = test::broken_invariant(text);
    INFO(printable(text) << ": " << broken.value_or(""));
    REQUIRE_FALSE(broken.has_value());
  }
}

TEST_CASE("invariants: lines strung together from the kernel's words → all hold") {
  Dice dice(2);
  for (int i = 0; i < 400; ++i) {
    const auto line = random_line(dice);
    const auto broken = test::broken_invariant(line);
    INFO(printable(line) << ": " << broken.value_or(""));
    REQUIRE_FALSE(broken.has_value());
  }
}

TEST_CASE("invariants: the fuzzer's corpus → all hold") {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(PEERPATH_TESTS_DIR "/fuzz/corpus/cmdline")) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    INFO(entry.path());
    const auto broken = test::broken_invariant(text);
    INFO(broken.value_or(""));
    CHECK_FALSE(broken.has_value());
    ++files;
  }
  CHECK(files > 0);
}
