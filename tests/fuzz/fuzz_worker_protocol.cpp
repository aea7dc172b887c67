// SPDX-License-Identifier: GPL-2.0-or-later
// Whatever a worker's driver prints: never a crash, and what is read is read again from its own
// text.
#include "gpu/worker/protocol.hpp"
#include "require.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace peerpath::gpu;
  const std::string line(reinterpret_cast<const char*>(data), size);
  if (const auto message = decode_message(line); message) {
    const auto once = encode(*message);
    const auto again = decode_message(std::string_view(once).substr(0, once.size() - 1));
    peerpath::fuzz::require(again && encode(*again) == once, "a message is read as it was written");
  }
  (void)decode_job({line});
  return 0;
}
