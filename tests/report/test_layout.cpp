// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/layout.hpp"
#include "report/timestamp.hpp"
#include "support/catch.hpp"

using namespace peerpath::report;
using peerpath::check::Finding;
using peerpath::check::Status;

TEST_CASE("wrapped: words → filled up to the width and not beyond") {
  CHECK(wrapped("aa bb cc dd", 5, "", "") == "aa bb\ncc dd\n");
  CHECK(wrapped("aa bb cc dd", 4, "", "") == "aa\nbb\ncc\ndd\n");
  CHECK(wrapped("aa bb cc dd", 6, "- ", "  ") == "- aa\n  bb\n  cc\n  dd\n");
}

TEST_CASE("wrapped: a word longer than the width → alone on its line") {
  CHECK(wrapped("a 0123456789 b", 5, "", "") == "a\n0123456789\nb\n");
  CHECK(wrapped("0123456789", 5, "> ", "") == "> 0123456789\n");
}

TEST_CASE("wrapped: no words → an empty line") {
  CHECK(wrapped("  ", 10, "", "") == "\n");
}

TEST_CASE("evidence_line: empty parts → said or left out") {
  CHECK(evidence_line({"f", "a", "b"}) == "f: a (expected b)");
  CHECK(evidence_line({"f", "a", ""}) == "f: a");
  CHECK(evidence_line({"f", "", "b"}) == "f: empty (expected b)");
  CHECK(evidence_line({"f", "\033", ""}) == "f: \\x1b");
}

TEST_CASE("counts: findings → each status once, worst first") {
  CHECK(counts({}) == "no findings");
  CHECK(counts({Finding{"a", Status::ok}, Finding{"b", Status::fail}, Finding{"c", Status::ok}}) ==
        "1 fail, 2 ok");
}

TEST_CASE("format_time, parse_time: RFC 3339 in UTC → there and back") {
  for (const std::int64_t seconds : {0LL, 951782400LL, 1785585600LL, 4102444799LL})
    CHECK(parse_time(format_time(seconds)) == seconds);
  CHECK(format_time(951782400) == "2000-02-29T00:00:00Z");
}

TEST_CASE("parse_time: anything else → nothing") {
  for (const char* text : {"", "2026-08-01", "2026-08-01T12:00:00", "2026-08-01T12:00:00+02:00",
                           "2026-08-01T12:00:00Zx", "2026-8-1T12:00:00Z", "2026-02-29T12:00:00Z",
                           " 2026-08-01T12:00:00Z"}) {
    INFO(text);
    CHECK_FALSE(parse_time(text).has_value());
  }
}

TEST_CASE("shortened: text that fits, or not → whole, or cut at a character with the end") {
  CHECK(shortened("abcdef", 6, "...") == "abcdef");
  CHECK(shortened("abcdefg", 6, "...") == "abc...");
  CHECK(shortened("ééééé", 5, "…") == "ééééé");
  CHECK(shortened("éééééé", 5, "…") == "éééé…");
  CHECK(shortened("abcdef", 2, "...") == "...");
}
