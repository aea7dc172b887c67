// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "boot/grub_root.hpp"

#include <fmt/format.h>

#include <string>

namespace peerpath::test {

/// A root with boot loader entries as Fedora's kernel-install writes them, and a grub.cfg that
/// reads them, cut down to what matters.
struct BlsRoot {
  TempRoot root;
  FakeSystem system{root.path()};

  static constexpr const char* id = "0123456789abcdef0123456789abcdef";
  static constexpr const char* first = "6.12.0-55.el10.x86_64";
  static constexpr const char* second = "6.12.0-60.el10.x86_64";

  BlsRoot() {
    root.file("/etc/os-release", "ID=fedora\n").file("/bin/sh", elf_header(62), 0755);
    root.directory("/var/lib").directory("/etc/grub.d");
    root.file("/boot/grub2/grub.cfg",
              "### BEGIN /etc/grub.d/10_linux ###\n"
              "insmod part_gpt\nsearch --no-floppy --fs-uuid --set=root 11-22\n"
              "if [ -z \"${kernelopts}\" ]; then\n"
              "  set kernelopts=\"root=/dev/mapper/root ro crashkernel=auto \"\n"
              "fi\n\ninsmod blscfg\nblscfg\n"
              "### END /etc/grub.d/10_linux ###\n"
              "### BEGIN /etc/grub.d/30_uefi-firmware ###\n"
              "menuentry 'UEFI Firmware Settings' {\n\tfwsetup\n}\n"
              "### END /etc/grub.d/30_uefi-firmware ###\n"
              "if [ -f $prefix/user.cfg ]; then\n  source $prefix/user.cfg\nfi\n",
              0600);
    kernel(first, "root=UUID=11-22 ro quiet");
    kernel(second, "root=UUID=11-22 ro quiet");
  }

  [[nodiscard]] static std::string path_of(const std::string& version) {
    return fmt::format("/boot/loader/entries/{}-{}.conf", id, version);
  }

  void kernel(const std::string& version, const std::string& options) {
    entry(version, fmt::format("options {}\n", options));
  }

  /// An entry with these lines for its options.
  void entry(const std::string& version, const std::string& lines) {
    root.file("/boot/vmlinuz-" + version, "kernel");
    root.file(path_of(version),
              fmt::format("title Fedora Linux ({0})\nversion {0}\nlinux /vmlinuz-{0}\n"
                          "initrd /initramfs-{0}.img $tuned_initrd\n{1}grub_users $grub_users\n"
                          "grub_class kernel\n",
                          version, lines));
  }

  [[nodiscard]] std::string text(const std::string& version = first) {
    return system.read(path_of(version)).value();
  }
};

}  // namespace peerpath::test
