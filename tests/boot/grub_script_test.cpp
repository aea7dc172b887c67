// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/grub_script.hpp"

#include "boot/grub_config.hpp"
#include "support/catch.hpp"

using namespace peerpath;
using namespace peerpath::boot;

namespace {

std::vector<std::vector<std::string>> texts(std::string_view script) {
  std::vector<std::vector<std::string>> result;
  const auto commands = parse_grub_script(script);
  REQUIRE(commands);
  for (const auto& command : *commands) {
    std::vector<std::string> row;
    for (const auto& word : command.words)
      row.push_back(text_of(word));
    result.push_back(row);
  }
  return result;
}

/// The kernel's command line for `linux /k <arguments>` after these commands.
std::vector<std::string> line_of(const std::string& before, const std::string& arguments) {
  const auto commands = parse_grub_script(before + "\nlinux /k " + arguments + "\n");
  REQUIRE(commands);
  const auto& words = commands->back().words;
  return kernel_lines({words.begin() + 2, words.end()}, variables_of(*commands));
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("grub script: words, quotes, escapes, comments") {
  CHECK(texts("a b\n c ; d # not e\n") ==
        std::vector<std::vector<std::string>>{{"a", "b"}, {"c"}, {"d"}});
  CHECK(texts("a 'b c' \"d e\" f\\ g") ==
        std::vector<std::vector<std::string>>{{"a", "b c", "d e", "f g"}});
  CHECK(texts("a b\\\nc") == std::vector<std::vector<std::string>>{{"a", "bc"}});
  CHECK(texts("a '' \"\"") == std::vector<std::vector<std::string>>{{"a", "", ""}});
  CHECK(texts("a x#y") == std::vector<std::vector<std::string>>{{"a", "x#y"}});
  CHECK(texts("a \"\\$b \\x\" '\\'") ==
        std::vector<std::vector<std::string>>{{"a", "$b \\x", "\\"}});
  CHECK(texts("a b\r\nc\r\n") == std::vector<std::vector<std::string>>{{"a", "b"}, {"c"}});
}

TEST_CASE("grub script: blocks give titles, sections and lines") {
  const auto commands = parse_grub_script(
      "### BEGIN /etc/grub.d/10_linux ###\n"
      "submenu 'More' $id 'x' {\n"
      "\tmenuentry \"One\" {\n"
      "\t\tlinux /vmlinuz a\n"
      "\t}\n"
      "}\n"
      "### END /etc/grub.d/10_linux ###\n"
      "if [ x = y ]; then linux /other b; fi\n");
  REQUIRE(commands);
  const auto& linux_command = commands->at(2);
  CHECK(linux_command.titles == std::vector<std::string>{"More", "One"});
  CHECK(linux_command.line == 4);
  CHECK(linux_command.section == "/etc/grub.d/10_linux");
  CHECK(linux_command.in_menu_entry);
  const auto& other = commands->at(commands->size() - 2);
  CHECK(text_of(other.words.at(1)) == "/other");
  CHECK(other.section.empty());
  CHECK(other.titles.empty());
}

TEST_CASE("grub script: what can't be read is an error with its line") {
  const auto message = [](std::string_view script) {
    return parse_grub_script(script).error().message;
  };
  CHECK(message("a\nb 'c\nd") == "line 2: ' without its end");
  CHECK(message("a\n\"b") == "line 2: \" without its end");
  CHECK(message("menuentry 'x' {\n linux\n") == "line 1: '{' without '}'");
  CHECK(message("a\nif [ x ]; then\n b\n") == "line 2: 'if' without its end");
  CHECK(message("for a in b; do c\n") == "line 1: 'for or while' without its end");
  CHECK(message("a\nfi\n") == "line 2: an end without its beginning");
  CHECK(message("a\n}\n") == "line 2: '}' without '{'");
  CHECK(message(std::string_view("a\n\0b", 4)) == "line 2: binary data");
}

TEST_CASE("kernel line: GRUB quotes words with spaces anew") {
  CHECK(line_of("", "root=x ro") == Lines{"root=x ro"});
  CHECK(line_of("", "dyndbg=\"file x +p\" quiet") == Lines{"\"dyndbg=file x +p\" quiet"});
  CHECK(line_of("", "'iommu=pt'") == Lines{"iommu=pt"});
  CHECK(line_of("", "io'mm'u=pt") == Lines{"iommu=pt"});
  CHECK(line_of("", "a=\\\"b") == Lines{"a=\\\"b"});
}

TEST_CASE("kernel line: variables") {
  CHECK(line_of("", "a $unset b") == Lines{"a b"});
  CHECK(line_of("set x='a  b'", "$x") == Lines{"a b", ""});
  CHECK(line_of("set x='a b'", "\"$x\"") == Lines{"\"a b\"", ""});
  SECTION("whether an assignment is reached isn't known: unset is possible, too") {
    CHECK(line_of("set x=iommu=pt", "a $x ${x}") == Lines{"a iommu=pt iommu=pt", "a"});
  }
  SECTION("two values: both lines, as Ubuntu's vt_handoff has them") {
    CHECK(line_of("if a; then set v=vt.handoff=7; else set v=; fi", "quiet $v") ==
          Lines{"quiet vt.handoff=7", "quiet"});
  }
  SECTION("a value that's known only at boot: no line") {
    CHECK(line_of("search --no-floppy --set=root x", "$root").empty());
    CHECK(line_of("probe --set p --fs-uuid $root", "$p").empty());
    CHECK(line_of("set a=\"${b}c\"", "$a").empty());
    CHECK(line_of("set a=b; read a", "$a").empty());
    CHECK(line_of("set a=b; regexp -s 1:a x y", "$a").empty());
    CHECK(line_of("for a in b; do true; done", "$a").empty());
    CHECK(line_of("", "$1").empty());
    CHECK(line_of("", "$?").empty());
  }
}

TEST_CASE("through_grub: a settings value as the kernel gets it") {
  CHECK(through_grub("quiet iommu=pt").value() == "quiet iommu=pt");
  CHECK(through_grub("x=\"a b\"").value() == "\"x=a b\"");
  CHECK_FALSE(through_grub("x=\"a"));
  CHECK_FALSE(through_grub("a; halt"));
}
