// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/bootconfig.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

namespace peerpath::check {

using Words = std::vector<std::string>;

TEST_CASE("without_late_words: no bootconfig → the command line as it is") {
  const auto early = without_late_words("iommu=pt quiet\n", "");
  REQUIRE(early.has_value());
  CHECK(early->text == "iommu=pt quiet\n");
  CHECK(early->ineffective.empty());
}

TEST_CASE("without_late_words: the kernel's keys in front → those of the default domain go") {
  const auto early = without_late_words(
      "iommu=\"pt\" iommu.passthrough=\"1\" intel_iommu=\"on\" quiet root=/dev/sda2 iommu=nopt",
      "kernel.iommu = \"pt\"\nkernel.iommu.passthrough = \"1\"\nkernel.intel_iommu = \"on\"\n"
      "kernel.quiet = \"\"\ninit.splash = \"\"\n");
  REQUIRE(early.has_value());
  CHECK(early->text == "intel_iommu=\"on\" quiet root=/dev/sda2 iommu=nopt");
  CHECK(early->ineffective == Words{"iommu=\"pt\"", "iommu.passthrough=\"1\""});
}

TEST_CASE("without_late_words: a kernel that quotes only where it must → the same") {
  const auto early = without_late_words("iommu=pt dyndbg=\"file a +p\" root=/dev/sda2",
                                        "kernel.iommu = \"pt\"\nkernel.dyndbg = \"file a +p\"\n"
                                        "# Parameters from bootloader:\n# root=/dev/sda2\n");
  REQUIRE(early.has_value());
  CHECK(early->text == "dyndbg=\"file a +p\" root=/dev/sda2");
  CHECK(early->ineffective == Words{"iommu=pt"});
}

TEST_CASE("without_late_words: the same word from the boot loader → only one of them goes") {
  const auto early = without_late_words("iommu=pt iommu=pt", "kernel.iommu = \"pt\"\n");
  REQUIRE(early.has_value());
  CHECK(early->text == "iommu=pt");
  CHECK(early->ineffective == Words{"iommu=pt"});
}

TEST_CASE("without_late_words: several values of a key → a word each") {
  const auto early =
      without_late_words("iommu=pt iommu=force quiet", "kernel.iommu = \"pt\", \"force\"\n");
  REQUIRE(early.has_value());
  CHECK(early->text == "quiet");
  CHECK(early->ineffective == Words{"iommu=pt", "iommu=force"});
}

TEST_CASE("without_late_words: keys of others, quotes of both kinds, line ends in values, CRLF") {
  const auto early = without_late_words(
      "root=/dev/sda2",
      "ftrace.event = \"a\nb = c\", 'd \"e\"'\r\n\r\n# comment\r\nkernelx.iommu = \"pt\"\n");
  REQUIRE(early.has_value());
  CHECK(early->text == "root=/dev/sda2");
}

TEST_CASE("without_late_words: keys that the command line doesn't begin with → malformed") {
  const std::string line = GENERATE("root=/dev/sda2 iommu=pt ", "iommu=nopt ", "iommu=ptx ", "");
  const auto early = without_late_words(line, "kernel.iommu = \"pt\"\n");
  REQUIRE_FALSE(early.has_value());
  CHECK(early.error().code == Errc::malformed);
  CHECK(early.error().text().find("'/proc/bootconfig'") != std::string::npos);
}

TEST_CASE("without_late_words: text that isn't one of /proc/bootconfig → malformed") {
  const std::string text =
      GENERATE(std::string("kernel.iommu\n"), std::string("kernel.iommu = pt\n"),
               std::string("kernel.iommu = \"pt\n"), std::string("kernel.iommu = \"pt\" \"x\"\n"),
               std::string("kernel.iommu = \"pt\", \n"), std::string("a\nb = \"c\"\n"),
               std::string("\x00\x01\xff", 3), std::string(" = "));
  const auto early = without_late_words("iommu=pt quiet", text);
  REQUIRE_FALSE(early.has_value());
  CHECK(early.error().code == Errc::malformed);
}

}  // namespace peerpath::check
