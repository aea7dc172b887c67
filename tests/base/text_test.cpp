// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"

#include "base/exit_status.hpp"
#include "base/result.hpp"
#include "support/catch.hpp"

using namespace peerpath;

TEST_CASE("lines: LF, CRLF, no last end → the same lines") {
  const std::vector<std::string_view> expected{"a", "", "b"};
  CHECK(lines("a\n\nb\n") == expected);
  CHECK(lines("a\r\n\r\nb\r\n") == expected);
  CHECK(lines("a\n\nb") == expected);
  CHECK(lines("").empty());
}

TEST_CASE("words: runs of white space separate, none at the ends") {
  CHECK(words(" \ta  b\r\n") == std::vector<std::string_view>{"a", "b"});
  CHECK(words(" \n").empty());
}

TEST_CASE("split: empty fields are kept") {
  CHECK(split("a,,b,", ',') == std::vector<std::string_view>{"a", "", "b", ""});
}

TEST_CASE("parse_number: only a whole number in the base") {
  CHECK(parse_number("10de", 16) == 0x10deU);
  CHECK(parse_number("18446744073709551615") == UINT64_MAX);
  CHECK_FALSE(parse_number("18446744073709551616"));
  CHECK_FALSE(parse_number(""));
  CHECK_FALSE(parse_number("-1"));
  CHECK_FALSE(parse_number("12 "));
  CHECK_FALSE(parse_number("0x10", 16));
}

TEST_CASE("printable: what could steer a terminal is shown as bytes") {
  CHECK(printable("a\x1b[31mb") == "a\\x1b[31mb");
  CHECK(printable("tab\tnl\n") == "tab\\x09nl\\x0a");
  CHECK(printable("caf\xc3\xa9") == "caf\xc3\xa9");
  CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");
  CHECK(printable("\xff\xc3") == "\\xff\\xc3");
  CHECK(printable("\xe0\x80\x80") == "\\xe0\\x80\\x80");
}

TEST_CASE("matches_glob: a star is any text") {
  CHECK(matches_glob("*.conf", "a.conf"));
  CHECK(matches_glob("a*b*c", "aXbYbZc"));
  CHECK(matches_glob("*", ""));
  CHECK_FALSE(matches_glob("*.conf", "a.confx"));
  CHECK_FALSE(matches_glob("", "a"));
}

TEST_CASE("without_tag: a tag in brackets at the beginning goes, everything else stays") {
  CHECK(without_tag("[json.exception.parse_error.101] parse error at 1") == "parse error at 1");
  CHECK(without_tag("an error [1] here") == "an error [1] here");
  CHECK(without_tag("[open") == "[open");
}

TEST_CASE("Error: steps are told from the outermost in") {
  const auto error =
      Error{Errc::not_found, "'x': no such file"}.while_doing("reading x").while_doing("verify");
  CHECK(error.text() == "verify: reading x: 'x': no such file");
}

TEST_CASE("exit_status_of: usage, conflict and unsupported have statuses of their own") {
  CHECK(exit_status_of(Errc::usage) == ExitStatus::usage);
  CHECK(exit_status_of(Errc::conflict) == ExitStatus::conflict);
  CHECK(exit_status_of(Errc::unsupported) == ExitStatus::unsupported);
  for (const auto code : {Errc::not_found, Errc::denied, Errc::malformed, Errc::no_space,
                          Errc::read_only, Errc::busy, Errc::internal}) {
    CHECK(exit_status_of(code) == ExitStatus::failed);
  }
}
