// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a file of bootc's kargs.d: what's found stands in the file, on the line that's said.
#include "base/text.hpp"
#include "boot/bootc_kargs.hpp"
#include "require.hpp"

#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace peerpath;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto kargs = boot::parse_bootc_kargs("f", text, cmdline::Arch::x86_64);
  if (!kargs) {
    fuzz::require(kargs.error().message.starts_with("line "), "an error without its line");
    return 0;
  }
  const auto all = split(text, '\n');
  for (const auto& karg : *kargs) {
    fuzz::require(karg.line >= 1 && karg.line <= all.size(), "a line that isn't there");
    const auto line = all[karg.line - 1];
    // A backslash takes one before it away.
    fuzz::require(line.find('\\') != std::string_view::npos ||
                      line.find(karg.words) != std::string_view::npos,
                  "words that aren't on their line");
  }
  return 0;
}
