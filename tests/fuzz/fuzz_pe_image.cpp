// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a PE image: whatever is found lies within them, and texts are C strings.
#include "boot/pe_image.hpp"
#include "require.hpp"

#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace peerpath::boot;
  using peerpath::fuzz::require;
  const auto source = pe_bytes({reinterpret_cast<const char*>(data), size});
  const auto image = parse_pe_image(source);
  if (!image) {
    require(image.error().code == peerpath::Errc::malformed, "an error that isn't about the bytes");
    require(!image.error().message.empty(), "an error without a message");
    return 0;
  }
  require(!image->sections.empty(), "an image without sections");
  for (const auto& section : image->sections) {
    require(section.name.size() <= 8, "a name of more than 8 bytes");
    require(section.size <= section.virtual_size, "more data than there's memory for");
    require(section.size == 0 || section.offset + section.size <= size, "data past the end");
    const auto text = pe_text(source, section);
    if (!text) continue;
    require(text->size() <= section.size, "more text than data");
    require(text->find('\0') == std::string::npos, "a NUL byte in a text");
  }
  return 0;
}
