// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a boot loader entry, and after a NUL byte as /etc/kernel/cmdline: `ensure` and
// `revert` leave them as they were.
#include "boot/bls_entry.hpp"
#include "boot/kernel_cmdline.hpp"
#include "fuzz_root.hpp"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace peerpath::boot;
  using peerpath::fuzz::require;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto text = input.substr(0, input.find('\0'));
  const auto cmdline = input.substr(std::min(text.size() + 1, size));

  for (const auto& field : parse_bls_entry(text).fields) {
    require(!field.key.empty(), "a field without a key");
    require(field.value.begin <= field.value.end && field.value.end <= text.size(),
            "a value outside of the text");
    require(field.line >= 1 && field.line <= text.size(), "a line that isn't there");
  }

  static peerpath::fuzz::FuzzRoot root;
  root.file("/boot/grub2/grub.cfg", "insmod blscfg\nblscfg\n");
  root.file("/boot/vmlinuz-6.12.0-1.x86_64", "kernel");
  root.file(kernel_cmdline_path, cmdline);
  root.check_round_trip("/boot/loader/entries/0123-6.12.0-1.x86_64.conf", text);
  require(root.bytes(kernel_cmdline_path) == cmdline, "the kernel's command line isn't as it was");
  return 0;
}
