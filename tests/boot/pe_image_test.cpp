// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/pe_image.hpp"

#include "support/catch.hpp"
#include "support/pe_writer.hpp"

using namespace peerpath;
using namespace peerpath::boot;
using peerpath::test::PeWriter;

namespace {

PeWriter small_image() {
  PeWriter writer;
  writer.section(".linux", "kernel").section(".cmdline", "root=/dev/vda ro");
  return writer;
}

std::string error_of(const std::string& image) {
  const auto parsed = parse_pe_image(pe_bytes(image));
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code == Errc::malformed);
  return parsed.error().message;
}

std::string patched(std::string image, std::size_t at, std::uint64_t value, std::size_t length) {
  PeWriter::put(image, at, value, length);
  return image;
}

}  // namespace

TEST_CASE("PE: sections of PE32+ and PE32 → names, sizes, text") {
  auto writer = small_image();
  writer.pe32 = GENERATE(false, true);
  const auto image = writer.image();
  const auto source = pe_bytes(image);
  const auto parsed = parse_pe_image(source).value();
  CHECK(parsed.machine == 0x8664);
  CHECK_FALSE(parsed.is_signed);
  REQUIRE(parsed.sections.size() == 2);
  CHECK(parsed.sections[0].name == ".linux");
  CHECK(parsed.sections[1].name == ".cmdline");
  CHECK(parsed.sections[1].size == 16);
  CHECK(pe_text(source, parsed.sections[1]).value() == "root=/dev/vda ro");
}

TEST_CASE("PE: a certificate table → signed") {
  auto writer = small_image();
  writer.pe32 = GENERATE(false, true);
  writer.sign();
  CHECK(parse_pe_image(pe_bytes(writer.image())).value().is_signed);
}

TEST_CASE("PE: fewer than five data directories → not signed") {
  auto writer = small_image();
  writer.sign();
  const auto count_at = PeWriter::pe_offset + 24 + 108;
  CHECK_FALSE(parse_pe_image(pe_bytes(patched(writer.image(), count_at, 4, 4))).value().is_signed);
}

TEST_CASE("PE: text → to the first NUL, of what gets into memory") {
  PeWriter writer;
  writer.section("a", std::string("one\0two", 7));
  writer.section("b", "a text cut short", 6);
  writer.section("c", "short", 4096);
  writer.section("d", "");
  const auto image = writer.image();
  const auto source = pe_bytes(image);
  const auto sections = parse_pe_image(source).value().sections;
  REQUIRE(sections.size() == 4);
  CHECK(pe_text(source, sections[0]).value() == "one");
  CHECK(pe_text(source, sections[1]).value() == "a text");
  CHECK(pe_text(source, sections[2]).value() == "short");
  CHECK(sections[2].virtual_size == 4096);
  CHECK(pe_text(source, sections[3]).value().empty());
}

TEST_CASE("PE: a text section of more than 64 KiB → refused, not read") {
  PeWriter writer;
  writer.section(".cmdline", std::string(65537, 'x'));
  const auto image = writer.image();
  const auto section = parse_pe_image(pe_bytes(image)).value().sections.at(0);
  CHECK(pe_text(pe_bytes(image), section).error().code == Errc::too_large);
}

TEST_CASE("PE: a name of eight bytes has no NUL after it → it's read whole, and no further") {
  PeWriter writer;
  writer.section("12345678", std::string(100, 'x'));
  CHECK(parse_pe_image(pe_bytes(writer.image())).value().sections.at(0).name == "12345678");
}

TEST_CASE("PE: no more is read than the headers") {
  PeWriter writer;
  writer.section(".linux", std::string(1U << 20U, 'k'));
  const auto image = writer.image();
  std::size_t read = 0;
  auto source = pe_bytes(image);
  source.read = [&, inner = source.read](std::uint64_t offset, std::size_t length) {
    read += length;
    return inner(offset, length);
  };
  REQUIRE(parse_pe_image(source));
  CHECK(read < 1024);
}

TEST_CASE("PE: malformed images → an error that says where") {
  const auto writer = small_image();
  const auto image = writer.image();
  const auto pe = PeWriter::pe_offset;
  const auto table = writer.table_offset();
  const auto with = [&](std::size_t at, std::uint64_t value, std::size_t length) {
    return error_of(patched(image, at, value, length));
  };
  CHECK(error_of("") == "it ends within its first header: 0 bytes");
  CHECK(error_of("MZ") == "it ends within its first header: 2 bytes");
  CHECK(with(0, 0x7f, 1) == "it doesn't start with 'MZ'");
  CHECK(with(0x3c, 0xffffffff, 4) == "it ends within its PE header: 1536 bytes");
  CHECK(with(pe, 'X', 1) == "it has no PE header at 0x80");
  CHECK(with(pe + 6, 0, 2) == "it has no sections");
  CHECK(with(pe + 6, 0xffff, 2) == "it ends within its section table: 1536 bytes");
  CHECK(with(pe + 20, 0xffff, 2) == "it ends within its optional header: 1536 bytes");
  CHECK(with(pe + 20, 1, 2) == "its optional header is too short");
  CHECK(with(pe + 20, 100, 2) == "its optional header is too short");
  CHECK(with(pe + 20, 112 + 32, 2) == "its data directories are too short");
  CHECK(with(pe + 24, 0x107, 2) == "its optional header is of unknown kind 0x107");
  CHECK(with(pe + 24 + 112 + 36, 1U << 31U, 4) ==
        "its certificates end past its end: 2147483648 of 1536 bytes");
  CHECK(with(table + 40 + 20, 0xfffffff8, 4) ==
        "its section '.cmdline' ends past its end: 4294967304 of 1536 bytes");
}

TEST_CASE("PE: an image cut off anywhere → an error, never a read past its end") {
  auto writer = small_image();
  writer.sign();
  const auto image = writer.image();
  for (std::size_t length = 0; length < image.size(); ++length) {
    INFO(length);
    CHECK_FALSE(parse_pe_image(pe_bytes(std::string_view(image).substr(0, length))));
  }
}

TEST_CASE("PE: a source that gives less than it promised → malformed") {
  const auto image = small_image().image();
  auto source = pe_bytes(std::string_view(image).substr(0, 100));
  source.size = image.size();
  CHECK(parse_pe_image(source).error().message == "it ends within its PE header");
}
