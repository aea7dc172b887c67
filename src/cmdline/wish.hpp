// SPDX-License-Identifier: GPL-2.0-or-later
// What a person meant by a word that the kernel doesn't heed, and why it doesn't.
#pragma once

#include "cmdline/judge.hpp"
#include "cmdline/tokenise.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace peerpath::cmdline {

enum class Option { iommu, passthrough, intel_iommu, amd_iommu };

/// The option as the kernel spells it: "iommu", "iommu.passthrough", "intel_iommu", "amd_iommu".
[[nodiscard]] std::string_view name_of(Option option);

/// The option that the kernel takes this name for; nothing for every other name.
[[nodiscard]] std::optional<Option> option_of(std::string_view name);

/// What a person meant: looked at without regard to case, to kinds of quotes, to `-`, `_` and `.`.
struct Wish {
  Option option = Option::iommu;
  Mode asks_for = Mode::kernel_default;  ///< kernel_default where it's `on`, or no value at all
  std::string_view item;                 ///< the part of the value that says so, as written
};

/// Nothing where the word has nothing to do with passthrough, translation or off.
[[nodiscard]] std::optional<Wish> wish_of(const Token& token);

/// Why the kernel doesn't do what the word, standing where the kernel reads it, wishes for.
[[nodiscard]] std::string why_unheeded(const Token& token, const Wish& wish, Arch arch,
                                       KernelVersion version);

}  // namespace peerpath::cmdline
