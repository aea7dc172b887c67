// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel arguments that a bootc image brings along.
#pragma once

#include "cmdline/arch.hpp"
#include "sys/system.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace peerpath::boot {

inline constexpr std::string_view bootc_kargs_directory = "/usr/lib/bootc/kargs.d";

/// One string of a file's `kargs` list: one or more words.
struct BootcKarg {
  std::string words;
  std::string file;
  std::size_t line = 0;
};

/// The strings of a file's `kargs = ["…", …]`; none where it's for another architecture.
/// Errors: malformed, with the line, where that isn't a list of strings, or for a key that bootc
/// doesn't know.
[[nodiscard]] Result<std::vector<BootcKarg>> parse_bootc_kargs(const std::string& file,
                                                               std::string_view text,
                                                               cmdline::Arch arch);

/// All of them, in the order in which bootc puts them together: by the files' names.
/// Errors: those of reading and parsing, which name the file.
/// Fact: bootc's documentation, "kernel arguments", and its lib/src/bootc_kargs.rs.
[[nodiscard]] Result<std::vector<BootcKarg>> read_bootc_kargs(const System& system,
                                                              cmdline::Arch arch);

}  // namespace peerpath::boot
