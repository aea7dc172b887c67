// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "cmdline/arch.hpp"
#include "cmdline/version.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::cmdline {

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

/// Whose IOMMU the machine has, which needn't be whose processor it is. An image doesn't know.
enum class Vendor { unknown, intel, amd };

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

/// The switches behind the mode, which tell what a kernel does once the machine is known.
struct Switches {
  std::optional<bool> passthrough = {};  ///< default domain asked for, whether off or not
  bool iommu_off = false;                ///< `iommu=off`
  std::optional<bool> intel_iommu = {};  ///< last of `intel_iommu=on` and `off`
  bool amd_iommu_off = false;            ///< `amd_iommu=off`
  std::optional<bool> strict = {};       ///< `iommu.strict=`
};

struct Judgement {
  Mode mode = Mode::kernel_default;
  std::optional<Word> decided_by;  ///< nothing where the kernel's default decides
  std::vector<Ignored> ignored;    ///< in the command line's order
  Switches switches;
};

/// What `judge` takes for "a current kernel": the newest with long-term support that the facts
/// were read in.
inline constexpr KernelVersion current_kernel{6, 12};

/// Replays the kernel's parsers over a command line: `iommu=` (x86 only; comma list, prefix
/// match, `usedac` stops), `iommu.passthrough=` (kstrtobool of that version), the vendors' `off`.
/// Last writer wins. `version` nothing means a current kernel.
///
/// Wherever kernels differ and the version doesn't settle it, the answer is the one that doesn't
/// read as passthrough or off. So, a vendor's `off` turns translation off for that vendor only;
/// with the vendor unknown it's among the ignored, and the mode is what the other words say.
/// `iommu=off` goes for all of x86. (Two Intel machines translate in spite of it: those whose
/// firmware opts in for external ports, and those started by tboot. No command line shows that.)
///
/// A boot configuration's words, which /proc/cmdline shows first, can't be told from others here
/// though the kernel doesn't heed them for these options: judge the boot loader's line.
/// Facts: arch/x86/kernel/pci-dma.c iommu_setup, drivers/iommu/iommu.c, lib/cmdline.c next_arg.
[[nodiscard]] Judgement judge(std::string_view command_line, Arch arch,
                              std::optional<KernelVersion> version = std::nullopt,
                              Vendor vendor = Vendor::unknown);

/// The word that is in force and asks for translation: what an administrator must have wanted.
[[nodiscard]] std::optional<Word> contradicts_passthrough(const Judgement& judgement);

/// What asks for passthrough: "iommu=pt" on x86-64, "iommu.passthrough=1" elsewhere.
[[nodiscard]] std::string_view passthrough_word(Arch arch);

}  // namespace peerpath::cmdline
