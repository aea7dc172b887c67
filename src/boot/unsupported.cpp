// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot/unsupported.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace peerpath::boot {
namespace {

bool has_file_like(const System& system, std::string_view directory, std::string_view pattern) {
  const auto names = system.list(directory);
  return names && std::any_of(names->begin(), names->end(),
                              [&](const std::string& name) { return matches_glob(pattern, name); });
}

constexpr std::string_view append_and_build =
    "append '{word}' to '/etc/kernel/cmdline' and build the images anew";

struct Rule {
  std::string_view name;
  std::string_view directory;
  std::string_view pattern;
  std::string_view remedy;
};

// Each of these keeps the command line somewhere else than in GRUB's settings, even where GRUB
// is installed as well: a drop-in would look done and never boot.
constexpr std::array rules{
    Rule{"an ostree system", "/ostree", "repo",
         "run 'rpm-ostree kargs --append-if-missing={word}'"},
    Rule{"Proxmox's proxmox-boot-tool", "/etc/kernel", "proxmox-boot-uuids",
         "append '{word}' to the first line of '/etc/kernel/cmdline' and to GRUB_CMDLINE_LINUX in "
         "'/etc/default/grub', then run 'proxmox-boot-tool refresh'"},
    Rule{"kernelstub", "/etc/kernelstub", "configuration", "run 'kernelstub --add-options {word}'"},
    Rule{"unified kernel images", "/boot/efi/EFI/Linux", "*.efi", append_and_build},
    Rule{"unified kernel images", "/efi/EFI/Linux", "*.efi", append_and_build},
    Rule{"unified kernel images", "/boot/EFI/Linux", "*.efi", append_and_build},
    Rule{"u-boot-menu", "/etc/default", "u-boot",
         "add '{word}' to U_BOOT_PARAMETERS in '/etc/default/u-boot', then run 'u-boot-update'"},
    Rule{"extlinux", "/boot/extlinux", "extlinux.conf",
         "add '{word}' to each APPEND line of '/boot/extlinux/extlinux.conf'"},
    Rule{"rEFInd", "/boot", "refind_linux.conf",
         "add '{word}' to each line of '/boot/refind_linux.conf'"},
    Rule{"zipl", "/etc", "zipl.conf",
         "add '{word}' to the parameters in '/etc/zipl.conf', then run 'zipl'"},
};

}  // namespace

std::optional<Unsupported> find_unsupported(const System& system) {
  for (const auto& rule : rules) {
    if (has_file_like(system, rule.directory, rule.pattern)) {
      return Unsupported{fmt::format("it boots by {} ('{}/{}'), which this version can't set up",
                                     rule.name, rule.directory, rule.pattern),
                         rule.remedy};
    }
  }
  return std::nullopt;
}

}  // namespace peerpath::boot
