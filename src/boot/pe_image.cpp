// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/pe_image.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace peerpath::boot {
namespace {

constexpr std::size_t dos_header_size = 64;
constexpr std::size_t dos_pe_offset = 0x3c;
/// The signature and the COFF file header.
constexpr std::size_t pe_header_size = 24;
constexpr std::size_t section_header_size = 40;
constexpr std::uint16_t magic_pe32 = 0x10b;
constexpr std::uint16_t magic_pe32_plus = 0x20b;
constexpr std::uint32_t certificate_directory = 4;
constexpr std::size_t text_limit = 64U << 10U;

tl::unexpected<Error> malformed(std::string what) {
  return fail(Errc::malformed, std::move(what));
}

/// A little-endian number; the caller knows that it's within the text.
std::uint32_t number(std::string_view text, std::size_t at, std::size_t length) {
  std::uint32_t value = 0;
  for (std::size_t i = length; i-- > 0;)
    value = value << 8U | static_cast<unsigned char>(text[at + i]);
  return value;
}

std::uint16_t number16(std::string_view text, std::size_t at) {
  return static_cast<std::uint16_t>(number(text, at, 2));
}

std::uint32_t number32(std::string_view text, std::size_t at) {
  return number(text, at, 4);
}

/// Exactly these bytes. Errors: malformed where the image ends before.
Result<std::string> read_all(const PeSource& source, std::uint64_t offset, std::size_t length,
                             std::string_view what) {
  // Both are at most 33 bits long here: the sum doesn't overflow.
  if (offset + length > source.size) {
    return malformed(fmt::format("it ends within {}: {} bytes", what, source.size));
  }
  auto bytes = source.read(offset, length);
  if (bytes && bytes->size() != length) return malformed(fmt::format("it ends within {}", what));
  return bytes;
}

/// Whether the optional header names a table of certificates.
Result<bool> has_certificates(const PeSource& source, std::string_view header) {
  if (header.size() < 2) return malformed("its optional header is too short");
  const auto magic = number16(header, 0);
  if (magic != magic_pe32 && magic != magic_pe32_plus) {
    return malformed(fmt::format("its optional header is of unknown kind {:#x}", magic));
  }
  const std::size_t directories = magic == magic_pe32 ? 96 : 112;
  if (header.size() < directories) return malformed("its optional header is too short");
  const auto count = number32(header, directories - 4);
  if (count <= certificate_directory) return false;
  const auto entry = directories + certificate_directory * std::size_t{8};
  if (header.size() < entry + 8) return malformed("its data directories are too short");
  const std::uint64_t offset = number32(header, entry);
  const std::uint64_t size = number32(header, entry + 4);
  if (size == 0) return false;
  if (offset + size > source.size) {
    return malformed(fmt::format("its certificates end past its end: {} of {} bytes", offset + size,
                                 source.size));
  }
  return true;
}

Result<PeSection> parse_section(const PeSource& source, std::string_view header) {
  PeSection section;
  const auto name = header.substr(0, 8);
  section.name = name.substr(0, name.find('\0'));
  section.virtual_size = number32(header, 8);
  section.size = std::min<std::uint64_t>(section.virtual_size, number32(header, 16));
  section.offset = number32(header, 20);
  if (section.size > 0 && section.offset + section.size > source.size) {
    return malformed(fmt::format("its section '{}' ends past its end: {} of {} bytes",
                                 printable(section.name), section.offset + section.size,
                                 source.size));
  }
  return section;
}

}  // namespace

PeSource pe_bytes(std::string_view bytes) {
  return {bytes.size(), [bytes](std::uint64_t offset, std::size_t length) -> Result<std::string> {
            if (offset >= bytes.size()) return std::string();
            return std::string(bytes.substr(static_cast<std::size_t>(offset), length));
          }};
}

Result<PeImage> parse_pe_image(const PeSource& source) {
  const auto dos = read_all(source, 0, dos_header_size, "its first header");
  if (!dos) return fail(dos.error());
  if (!dos->starts_with("MZ")) return malformed("it doesn't start with 'MZ'");
  const std::uint64_t start = number32(*dos, dos_pe_offset);
  const auto coff = read_all(source, start, pe_header_size, "its PE header");
  if (!coff) return fail(coff.error());
  if (!coff->starts_with(std::string_view("PE\0\0", 4))) {
    return malformed(fmt::format("it has no PE header at {:#x}", start));
  }
  PeImage image;
  image.machine = number16(*coff, 4);
  const std::size_t count = number16(*coff, 6);
  const std::size_t optional_size = number16(*coff, 20);
  if (count == 0) return malformed("it has no sections");

  const auto optional =
      read_all(source, start + pe_header_size, optional_size, "its optional header");
  if (!optional) return fail(optional.error());
  const auto certificates = has_certificates(source, *optional);
  if (!certificates) return fail(certificates.error());
  image.is_signed = *certificates;

  const auto table = read_all(source, start + pe_header_size + optional_size,
                              count * section_header_size, "its section table");
  if (!table) return fail(table.error());
  for (std::size_t i = 0; i < count; ++i) {
    auto section = parse_section(
        source, std::string_view(*table).substr(i * section_header_size, section_header_size));
    if (!section) return fail(section.error());
    image.sections.push_back(std::move(*section));
  }
  return image;
}

Result<std::string> pe_text(const PeSource& source, const PeSection& section) {
  if (section.size > text_limit) {
    return fail(Errc::too_large, fmt::format("its section '{}' is larger than {} bytes",
                                             printable(section.name), text_limit));
  }
  auto text = read_all(source, section.offset, static_cast<std::size_t>(section.size),
                       fmt::format("its section '{}'", printable(section.name)));
  if (text) text->resize(std::min(text->size(), text->find('\0')));
  return text;
}

}  // namespace peerpath::boot
