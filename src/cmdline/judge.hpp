// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "cmdline/version.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::cmdline {

enum class Arch { x86_64, arm64, other };

/// From `uname -m` or a package architecture: x86_64 and amd64, aarch64 and arm64.
[[nodiscard]] Arch arch_of(std::string_view machine);
/// "x86_64", "arm64", "other".
[[nodiscard]] std::string_view name_of(Arch arch);

/// How a kernel sets up its default domain, as far as the command line decides it.
enum class Mode {
  passthrough,     ///< default domain identity
  translated,      ///< default domain DMA, asked for on the command line
  off,             ///< no translation at all: an `off` word
  kernel_default,  ///< nothing on the command line; the build configuration decides
};
/// "passthrough", "translated", "off", "kernel-default".
[[nodiscard]] std::string_view name_of(Mode mode);

/// Whether a kernel booted like this reaches peers untranslated: passthrough or off.
[[nodiscard]] bool is_untranslated(Mode mode);

/// A word of the command line that had a say, or that looks as if it had.
struct Word {
  std::string text;        ///< as written
  std::size_t offset = 0;  ///< its first byte in the command line
  Mode asks_for = Mode::kernel_default;
};

/// A word that asks for something but isn't in force, and why: "overridden by 'iommu=nopt'",
/// "'iommu=' has no meaning on arm64", "after '--'", "not an option of the kernel".
struct Ignored {
  Word word;
  std::string reason;
};

struct Judgement {
  Mode mode = Mode::kernel_default;
  std::optional<Word> decided_by;  ///< nothing where the kernel's default decides
  std::vector<Ignored> ignored;    ///< in the command line's order
};

/// Replays the kernel's parsers over a command line: `iommu=` (x86 only; comma list, prefix
/// match, `usedac` stops), `iommu.passthrough=` (kstrtobool of that version), the vendors' `off`.
/// Last writer wins. `version` nothing means a current kernel.
/// Facts: arch/x86/kernel/pci-dma.c iommu_setup, drivers/iommu/iommu.c, lib/cmdline.c next_arg.
[[nodiscard]] Judgement judge(std::string_view command_line, Arch arch,
                              std::optional<KernelVersion> version = std::nullopt);

}  // namespace peerpath::cmdline
