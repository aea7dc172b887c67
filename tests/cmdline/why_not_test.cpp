// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmdline/why_not.hpp"

#include "support/catch.hpp"

using namespace peerpath::cmdline;

TEST_CASE("why_not_in_force: one reason, the one that holds") {
  const auto why = [](std::string_view line) {
    return why_not_in_force(line, "iommu=pt", Arch::x86_64);
  };
  using namespace std::string_literals;
  CHECK(why("a=\"b iommu=pt") == "an open quote takes it in");
  CHECK(why("a -- iommu=pt") == "it comes after a bare '--', where the kernel doesn't heed it");
  CHECK(why("iommu=pt iommu=nopt") == "overridden by 'iommu=nopt'");
  CHECK(why("a\0b iommu=pt"s) == "a NUL byte ends the line before it");
  CHECK(why("aiommu=pt") == "it isn't a word of its own in what the kernel gets");
  CHECK(why(std::string(2048, 'a') + " iommu=pt") ==
        "the line would have 2057 bytes, and the kernel keeps 2047");
}
