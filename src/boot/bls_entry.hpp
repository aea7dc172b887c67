// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/added_word.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::boot {

/// A line `key value` of a boot loader entry.
struct BlsField {
  std::string_view key;
  Slice value;           ///< in the entry's text, without blanks around it
  std::size_t line = 0;  ///< counted from 1
};

/// A boot loader entry of type 1, as the Boot Loader Specification has it. It lives as long as the
/// text that it was read from.
struct BlsEntry {
  std::string_view text;
  std::vector<BlsField> fields;
  bool by_boom = false;  ///< written by boom, which keeps entries of its own

  /// The fields of that name, in order. Some keys may come several times.
  [[nodiscard]] std::vector<BlsField> all(std::string_view key) const;
  /// The first of that name; empty where there's none.
  [[nodiscard]] std::string_view value(std::string_view key) const;
};

/// Reads an entry. Nothing is malformed: what the boot loaders skip is skipped. Lines end with LF,
/// CR or both; a key ends at the first blank; `#` begins a comment line.
/// Facts: systemd src/boot/boot.c line_get_key_value; GRUB grub-core/commands/blscfg.c; boom's
/// entries begin with an `#OsIdentifier:` line (boom bootloader.py).
[[nodiscard]] BlsEntry parse_bls_entry(std::string_view text);

/// The value of a key as GRUB finds it in an entry. It splits a line at its first space, or at its
/// first tab where there's no space, and reads no further than a line without a value.
/// Fact: rhboot/grub2 grub-core/commands/blscfg.c read_entry.
[[nodiscard]] std::optional<std::string_view> grub_value(std::string_view text,
                                                         std::string_view key);

/// Without the quotes around all of it, which systemd-boot takes away; none for other readers.
/// Fact: systemd src/boot/boot.c line_get_key_value.
[[nodiscard]] Slice unquoted(std::string_view text, Slice value);

/// A file's name, without its suffix, without a boot counter at its end: `+3`, `+2-1`.
/// Fact: the Boot Loader Specification, "Boot counting"; systemd-bless-boot renames the file.
[[nodiscard]] std::string_view without_boot_counter(std::string_view stem);

}  // namespace peerpath::boot
