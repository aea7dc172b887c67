// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmdline/tokenise.hpp"

#include "support/catch.hpp"

#include <string>
#include <string_view>
#include <vector>

using namespace peerpath::cmdline;
using namespace std::literals;

namespace {

/// "name" or "name|value" of each word, for short comparisons.
std::vector<std::string> parts(std::string_view line) {
  std::vector<std::string> result;
  for (const auto& token : tokenise(line)) {
    std::string part(token.name);
    if (token.value) part += "|" + std::string(*token.value);
    result.push_back(part);
  }
  return result;
}

using Parts = std::vector<std::string>;

}  // namespace

TEST_CASE("tokenise: nothing or only white space → no words") {
  CHECK(tokenise("").empty());
  CHECK(tokenise(" \t\n\v\f\r\xA0").empty());
}

TEST_CASE("tokenise: each of the kernel's separators → parts words") {
  const char separator = GENERATE(' ', '\t', '\n', '\v', '\f', '\r', '\xA0');
  const std::string line = std::string("quiet") + separator + separator + "iommu=pt" + separator;
  CHECK(parts(line) == Parts{"quiet", "iommu|pt"});
}

TEST_CASE("tokenise: bytes that only look like separators → stay in the word") {
  CHECK(parts("a\x1f"
              "b\xC2"
              "c,d;e\x85"
              "f")
            .size() == 1);
}

TEST_CASE("tokenise: UTF-8 letter that has byte A0 → parts there, as in the kernel") {
  CHECK(parts("x=\xC3\xA0y") == Parts{"x|\xC3", "y"});
}

TEST_CASE("tokenise: name and value → parted at the first =") {
  CHECK(parts("root=UUID=1 quiet a= b==c") == Parts{"root|UUID=1", "quiet", "a|", "b|=c"});
}

TEST_CASE("tokenise: = in the first place → part of the name") {
  CHECK(parts("=a =a=b ==") == Parts{"=a", "=a|b", "=|"});
}

TEST_CASE("tokenise: = between spaces → three words") {
  CHECK(parts("iommu = pt") == Parts{"iommu", "=", "pt"});
}

TEST_CASE("tokenise: quotes around word or value → removed, white space inside kept") {
  CHECK(parts("\"iommu=pt\" x") == Parts{"iommu|pt", "x"});
  CHECK(parts("iommu=\"pt\" x") == Parts{"iommu|pt", "x"});
  CHECK(parts("a=\"b c\" \"d e=f g\" \"h i\"") == Parts{"a|b c", "d e|f g", "h i"});
  CHECK(parts("a=\"\" \"\" x") == Parts{"a|", "", "x"});
}

TEST_CASE("tokenise: quotes around word and value → one is left at the end") {
  CHECK(parts("\"a=\"b\"\"") == Parts{"a|b\""});
}

TEST_CASE("tokenise: quotes elsewhere → stay") {
  CHECK(parts("iommu=p\"t\"") == Parts{"iommu|p\"t\""});
  CHECK(parts("\"iommu\"=pt") == Parts{"iommu\"|pt"});
  CHECK(parts("a\"b c\"d") == Parts{"a\"b c\"d"});
}

TEST_CASE("tokenise: single quotes and backslashes → nothing special") {
  CHECK(parts("'a b'") == Parts{"'a", "b'"});
  CHECK(parts("a\\ b") == Parts{"a\\", "b"});
  CHECK(parts("a=\"b\\\" c d") == Parts{"a|b\\", "c", "d"});
}

TEST_CASE("tokenise: quote without an end → the word is the rest") {
  const auto tokens = tokenise("quiet x=\"a iommu=pt");
  REQUIRE(tokens.size() == 2);
  CHECK_FALSE(tokens[0].open_quote);
  CHECK(tokens[1].open_quote);
  CHECK(tokens[1].name == "x");
  CHECK(tokens[1].value == "a iommu=pt"sv);
}

TEST_CASE("tokenise: one quote alone at the end → an empty word or value") {
  CHECK(parts("\"") == Parts{""});
  CHECK(parts("a=\"") == Parts{"a|"});
}

TEST_CASE("tokenise: bare -- → the words after it are init's") {
  const auto tokens = tokenise("quiet -- iommu=pt -- x");
  REQUIRE(tokens.size() == 5);
  CHECK_FALSE(tokens[0].for_init);
  CHECK_FALSE(tokens[1].for_init);
  CHECK(tokens[1].ends_parameters());
  CHECK(tokens[2].for_init);
  CHECK(tokens[2].name == "iommu");
  CHECK(tokens[4].for_init);
}

TEST_CASE("tokenise: quoted -- → ends the parameters as well") {
  CHECK(tokenise("\"--\" x").at(1).for_init);
}

TEST_CASE("tokenise: dashes that aren't a bare -- → end nothing") {
  const auto* const dashes = GENERATE("---", "-", "__", "--=", "--x");
  CHECK_FALSE(tokenise(std::string(dashes) + " x").at(1).for_init);
}

TEST_CASE("tokenise: NUL byte → ends the text") {
  CHECK(parts("a b\0 c"sv) == Parts{"a", "b"});
}

TEST_CASE("tokenise: words → know where they stand, quotes included") {
  const auto line = "  quiet \"iommu=pt\"\tx"sv;
  const auto tokens = tokenise(line);
  REQUIRE(tokens.size() == 3);
  CHECK(tokens[0].offset == 2);
  CHECK(tokens[1].offset == 8);
  CHECK(tokens[1].text == "\"iommu=pt\"");
  CHECK(tokens[1].end() == 18);
  CHECK(tokens[2].offset == 19);
}

TEST_CASE("same_name: - and _ → the same; dots and case → not") {
  CHECK(same_name("intel_iommu", "intel-iommu"));
  CHECK(same_name("a-b_c", "a_b-c"));
  CHECK_FALSE(same_name("iommu.passthrough", "iommu-passthrough"));
  CHECK_FALSE(same_name("iommu", "IOMMU"));
  CHECK_FALSE(same_name("iommu", "iommu_"));
}

TEST_CASE("is_too_long: a word past what the kernel keeps → too long") {
  const auto arch = GENERATE(Arch::x86_64, Arch::arm64);
  CHECK(kept_bytes(arch) == 2047);
  CHECK_FALSE(is_too_long(std::string(2047, 'x'), arch));
  CHECK(is_too_long(std::string(2048, 'x'), arch));
  CHECK(is_too_long(std::string(2040, ' ') + "iommu=pt", arch));
}

TEST_CASE("is_too_long: only white space, or text after a NUL, past the end → not too long") {
  CHECK_FALSE(is_too_long(std::string(2047, 'x') + " \n", Arch::x86_64));
  CHECK_FALSE(is_too_long("x\0"s + std::string(3000, 'x'), Arch::x86_64));
}

TEST_CASE("is_too_long: other architectures → the smallest size of all") {
  CHECK_FALSE(is_too_long(std::string(511, 'x'), Arch::other));
  CHECK(is_too_long(std::string(512, 'x'), Arch::other));
}
