// SPDX-License-Identifier: GPL-2.0-or-later
// What systemd-stub makes of a unified kernel image and of the addons beside it.
#pragma once

#include "boot/pe_image.hpp"
#include "boot/types.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peerpath::boot {

/// One of the ways in which an image boots.
struct UkiProfile {
  std::string name;  ///< its title, its id or its number; empty where the image has one only
  std::optional<std::string> command_line;
  std::optional<std::string> release;  ///< the kernel's
  bool has_initrd = false;
};

struct UkiImage {
  std::uint16_t machine = 0;            ///< as in PeImage
  std::vector<UkiProfile> profiles;     ///< none where there's no kernel in it
  std::optional<int> stub_version;      ///< systemd's, where it's systemd-stub
  std::optional<std::string> doubtful;  ///< what versions of systemd-stub read differently
};

/// Errors: as for parse_pe_image.
[[nodiscard]] Result<UkiImage> read_uki_image(const PeSource& source);

/// An addon that adds to the command line.
struct UkiAddon {
  std::string path;
  std::string command_line;
  std::optional<std::string> release;  ///< of the only kernel that it's for
  /// Whether there's a NUL byte after the release; systemd-stub takes one without for the start of
  /// the release's name.
  bool release_ends = true;
  std::uint16_t machine = 0;
  bool is_signed = false;
};

/// Nothing where it's an addon that doesn't add to the command line. Errors: as for
/// parse_pe_image; malformed for an image with a kernel in it, which systemd-stub passes over.
[[nodiscard]] Result<std::optional<UkiAddon>> read_uki_addon(const PeSource& source,
                                                             const std::string& path);

/// An image's profile, where it was found, and the addons that add to its command line.
struct UkiEntry {
  Entry entry;
  std::string partition;           ///< the directory where the partition with it is mounted
  std::optional<std::string> own;  ///< its command line without the addons
  std::optional<int> stub_version;
  std::vector<UkiAddon> addons;  ///< in the order in which they're appended
};

struct Ukis {
  std::vector<UkiEntry> entries;
  std::vector<std::string> notes;
  std::vector<std::string> unfollowed;
};

/// The first version of systemd-stub with addons. Fact: systemd-stub(7) of 253 and 254. Builds of
/// older ones may have them, too.
inline constexpr int first_stub_with_addons = 254;

enum class SecureBoot { unknown, off, on };
/// Of the booted system; unknown where the root is another.
[[nodiscard]] SecureBoot secure_boot(const System& system);

/// The mounted partitions that have a directory EFI/Linux, each once, by their resolved paths.
[[nodiscard]] std::vector<std::string> uki_partitions(const System& system);

/// Whether there's an image with a kernel in one of the partitions, or one that can't be read.
[[nodiscard]] bool has_ukis(const System& system);

/// All images with their addons. What isn't a readable PE image is among the unfollowed.
/// Fact: systemd-stub(7): the image's command line, /loader/addons/*.addon.efi, then
/// IMAGE.efi.extra.d/*.addon.efi, each sorted by name; under Secure Boot only signed ones; none
/// whose .uname isn't the image's. (`.uname` of those in /loader/addons: systemd/systemd#32183.)
/// Errors: those of listing the directories.
[[nodiscard]] Result<Ukis> read_ukis(const System& system);

/// The same for one image that isn't in its place yet.
[[nodiscard]] Result<Ukis> read_uki(const System& system, const std::string& path,
                                    const PeSource& source);

/// As a boot loader's `inspect` gives them.
[[nodiscard]] Inspection inspection_of(Ukis ukis);

/// A file of the root as a source. Errors: those of reading; malformed for what isn't a file.
[[nodiscard]] Result<PeSource> pe_file(const System& system, const std::string& path);

}  // namespace peerpath::boot
