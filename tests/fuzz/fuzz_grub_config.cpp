// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a grub.cfg: what's found is in it, and audit never calls good what it can't follow.
#include "boot/grub_config.hpp"
#include "fuzz_root.hpp"

#include <algorithm>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace peerpath::boot;
  using peerpath::fuzz::require;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;

  if (const auto commands = parse_grub_script(text)) {
    const auto variables = variables_of(*commands);
    for (const auto& command : *commands) {
      require(!command.words.empty(), "a command without words");
      require(command.line >= 1 && command.line <= lines, "a line that isn't there");
      require(kernel_lines(command.words, variables).size() <= 64, "too many lines");
    }
  } else {
    require(commands.error().code == peerpath::Errc::malformed,
            "an error that isn't about the text");
    require(!commands.error().message.empty(), "an error without a message");
  }

  static peerpath::fuzz::FuzzRoot root;
  root.file("/boot/vmlinuz-6.12.0-1-amd64", "kernel");
  root.file(grub_config_path, text);
  const auto config = read_grub_config(root.system());
  if (config) {
    for (const auto& entry : config->entries)
      require(entry.line >= 1 && entry.line <= lines, "an entry at a line that isn't there");
  }
  const auto outcome = audit(root.system(), {});
  if (!outcome || outcome->status != peerpath::ExitStatus::good) return 0;
  require(config.has_value(), "good, and it can't be read");
  require(config->unfollowed.empty(), "good, and not all of it can be followed");
  require(!outcome->entries.empty(), "good without an entry");
  for (const auto& judged : outcome->entries)
    require(judged.untranslated(), "good with an entry that isn't");
  return 0;
}
