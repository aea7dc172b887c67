// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/added_word.hpp"
#include "boot/types.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::boot {

/// The kernel's options in kernelstub's configuration, and where in its text they are.
struct KernelstubOptions {
  /// One of the list's strings.
  struct Element {
    Slice place;  ///< with its quotes
    std::string option;
  };
  bool is_list = true;            ///< else one string, as older versions wrote it
  Slice place;                    ///< of the list with its brackets, or the string with its quotes
  std::vector<Element> elements;  ///< of a string: the one
  std::string command_line;       ///< what kernelstub makes of them
};

/// Reads `user.kernel_options`, or `default.kernel_options` where there's no `user`, as kernelstub
/// does. Errors: malformed with the position where it's no JSON, or has no such list or string.
/// Fact: pop-os/kernelstub kernelstub/config.py, load_config and update_config.
[[nodiscard]] Result<KernelstubOptions> parse_kernelstub(std::string_view text);

/// Puts the word at the end; every other byte stays.
[[nodiscard]] EditFile add_option(const std::string& path, std::string_view text,
                                  const KernelstubOptions& options, std::string_view word);

/// Takes the last such word out again, with its comma. Nothing where it isn't there.
[[nodiscard]] std::optional<EditFile> take_option(const Ledger& ledger, const std::string& path,
                                                  std::string_view text,
                                                  const KernelstubOptions& options,
                                                  std::string_view word);

}  // namespace peerpath::boot
