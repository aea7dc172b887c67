// SPDX-License-Identifier: GPL-2.0-or-later
// The section table of a PE image: what a unified kernel image and its addons are. Pure.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::boot {

/// Where an image's bytes come from. An image may be of hundreds of MB: only what's asked for is
/// read.
struct PeSource {
  std::uint64_t size = 0;  ///< of the whole image, bytes
  /// Up to `length` bytes from `offset` on; fewer at the end.
  std::function<Result<std::string>(std::uint64_t offset, std::size_t length)> read;
};

/// The bytes themselves, which must outlive the source.
[[nodiscard]] PeSource pe_bytes(std::string_view bytes);

struct PeSection {
  std::string name;                ///< as stored, up to 8 bytes
  std::uint64_t offset = 0;        ///< of its data in the file
  std::uint64_t size = 0;          ///< of its data that gets into memory, bytes
  std::uint64_t virtual_size = 0;  ///< in memory; what's more than the data is zero bytes
};

struct PeImage {
  /// What it runs on: IMAGE_FILE_MACHINE_AMD64 0x8664, _ARM64 0xaa64, _I386 0x14c.
  std::uint16_t machine = 0;
  bool is_signed = false;           ///< it has a certificate table; whose, nobody looked
  std::vector<PeSection> sections;  ///< in the table's order
};

/// Reads the headers of a PE32 or PE32+ image. Every place that they name is inside the image.
/// Errors: malformed with what's wrong, without the file's name; those of reading.
/// Fact: the PE format specification, "Optional Header", "Section Table", "The Attribute
/// Certificate Table". Of a section the smaller of SizeOfRawData and VirtualSize gets into memory,
/// since the former is padded (systemd, src/boot/pe.c).
[[nodiscard]] Result<PeImage> parse_pe_image(const PeSource& source);

/// A section of text, up to the first NUL byte if it has one: it's read as a C string at boot.
/// Errors: too_large for one of more than 64 KiB; those of reading.
[[nodiscard]] Result<std::string> pe_text(const PeSource& source, const PeSection& section);

}  // namespace peerpath::boot
