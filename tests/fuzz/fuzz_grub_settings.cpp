// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as /etc/default/grub where GRUB reads that alone: our block goes in and out and leaves
// them as they were. The shell isn't let at them: it's answered for.
#include "boot/grub_settings.hpp"
#include "fuzz_root.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace {

using namespace peerpath;
using namespace std::string_literals;

/// What the shell would print for settings that source cleanly, with our block in them or not.
CommandResult sourced(const Command& command) {
  if (command.argv.front() != "/bin/sh") {
    return {.status = 1, .timed_out = false, .out = "", .err = "no\n"};
  }
  const bool ours = std::ranges::any_of(command.environment, [](const std::string& variable) {
    return variable.find("# BEGIN peerpath") != std::string::npos;
  });
  std::string out(command.argv.size() - 4, '\0');
  out += ours ? "iommu=pt\0quiet\0done"s : "\0quiet\0done"s;
  return {.status = 0, .timed_out = false, .out = std::move(out), .err = ""};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static fuzz::FuzzRoot root(sourced);
  root.file("/usr/sbin/grub2-mkconfig", "");
  root.file("/boot/vmlinuz-6.12.0-1.x86_64", "kernel");
  root.file("/boot/grub2/grub.cfg",
            "menuentry 'Linux' {\n\tlinux /vmlinuz-6.12.0-1.x86_64 root=UUID=11-22 ro\n}\n");
  if (text.find("# BEGIN peerpath") == std::string_view::npos) {
    root.check_round_trip(boot::grub_settings_path, text);
    return 0;
  }
  // An older block is replaced, and taken away: nothing else is.
  root.file(boot::grub_settings_path, text);
  std::ignore = boot::ensure(root.system(), {});
  std::ignore = boot::revert(root.system(), {});
  std::string_view rest = text;
  const auto left = root.bytes(boot::grub_settings_path);
  for (const char c : left) {
    const auto at = rest.find(c);
    fuzz::require(at != std::string_view::npos, "a byte that wasn't there");
    rest.remove_prefix(at + 1);
  }
  return 0;
}
