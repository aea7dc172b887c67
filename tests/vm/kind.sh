# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced: what the kinds of image differ in. A kind is SUITE-LOADER:
#   grub     GRUB under BIOS
#   grubefi  GRUB under UEFI: Debian's signed one, and the stub on the ESP that it starts with
#   bls      systemd-boot under UEFI, with the type 1 entries that kernel-install writes
#   uki      systemd-boot under UEFI, with the unified kernel images that ukify builds

vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/vm/disk.sh
. "$vm_dir/disk.sh"

vm_kinds=(bookworm-grub bookworm-grubefi bookworm-bls trixie-bls trixie-uki)
vm_loader=
vm_base=

# use_kind KIND - it comes first.
use_kind() {
  if [[ " ${vm_kinds[*]} " != *" $1 "* ]]; then
    echo "no kind '$1' among: ${vm_kinds[*]}" >&2
    return 2
  fi
  vm_loader=${1#*-}
  vm_base=${1%-*}-efi
  [ "$vm_loader" != grub ] || vm_base=${1%-*}-bios
  use_firmware "${vm_base#*-}"
}

# open_copy CACHE IMAGE DIR - makes IMAGE, a copy of the base, and mounts it on DIR; its boot loader is
# set up as its administrator has it, before the package comes.
open_copy() {
  local base
  base=$("$vm_dir/base" "$1" "$vm_base")
  [ ! -e "$2" ] || release_stale "$(realpath "$2")"
  rm -f "$2"
  cp --sparse=always "$base" "$2"
  attach_root "$2"
  mount_root "$3"
  mount_api_filesystems
  cp /etc/resolv.conf "$vm_root/etc/resolv.conf"
  "configure_$vm_loader"
}

# Debian's kernels differ in this; where it's off, the administrator of a machine with an IOMMU in
# use has to have turned it on, which is not for peerpath to do.
iommu_needs_turning_on() {
  ! grep -qx 'CONFIG_INTEL_IOMMU_DEFAULT_ON=y' "$vm_root"/boot/config-*
}

# On a machine that others use too, the emulated timer is late enough for a kernel to take it for
# broken, and units need more time than they are given. QEMU ends at once where the kernel panics.
kernel_words() {
  local words='console=ttyS0,115200 loglevel=4 systemd.show_status=1'
  words="$words no_timer_check systemd.default_timeout_start_sec=300 panic=1"
  if iommu_needs_turning_on; then
    words="$words intel_iommu=on"
  fi
  echo "$words"
}

configure_grub() {
  cat >"$vm_root/etc/default/grub" <<END
GRUB_DEFAULT=0
GRUB_TIMEOUT=0
GRUB_DISTRIBUTOR=Debian
GRUB_CMDLINE_LINUX_DEFAULT="$(kernel_words)"
GRUB_CMDLINE_LINUX=""
GRUB_TERMINAL=serial
GRUB_SERIAL_COMMAND="serial --unit=0 --speed=115200"
END
  in_chroot update-grub
}

# In place of systemd-boot, which the base has. grub-install would refuse an ESP that isn't FAT yet;
# these two files are all that it puts there.
configure_grubefi() {
  local esp="$vm_root$vm_esp_dir" signed="$vm_root/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed"
  remove_entries
  in_chroot apt-get purge -q -y systemd-boot
  rm -rf "$esp"/{EFI,loader}
  in_chroot apt-get install -q -y --no-install-recommends grub-efi-amd64 grub-efi-amd64-signed
  install -D "$signed" "$esp/EFI/BOOT/BOOTX64.EFI"
  mkdir -p "$esp/EFI/debian"
  cat >"$esp/EFI/debian/grub.cfg" <<END
search.fs_uuid $(uuid_of_root) root
set prefix=(\$root)'/boot/grub'
configfile \$prefix/grub.cfg
END
  configure_grub
}

configure_bls() {
  configure_systemd_boot bls
}

configure_uki() {
  configure_systemd_boot uki
}

remove_entries() {
  local kernel
  for kernel in "$vm_root"/boot/vmlinuz-*; do
    in_chroot kernel-install remove "${kernel##*/vmlinuz-}"
  done
}

# configure_systemd_boot LAYOUT - of what kernel-install writes, and has written for the kernels that
# are there.
configure_systemd_boot() {
  local kernel
  remove_entries
  echo "root=UUID=$(uuid_of_root) ro $(kernel_words)" >"$vm_root/etc/kernel/cmdline"
  echo "layout=$1" >"$vm_root/etc/kernel/install.conf"
  echo 'timeout 0' >"$vm_root$vm_esp_dir/loader/loader.conf"
  for kernel in "$vm_root"/boot/vmlinuz-*; do
    kernel=${kernel##*/vmlinuz-}
    in_chroot kernel-install add "$kernel" "/boot/vmlinuz-$kernel"
  done
}

# Code to be run in the image: another kernel, whose package the base has at hand; and every kernel
# once more through what its package runs.
# shellcheck disable=SC2034
second_kernel='apt-get install -q -y --no-install-recommends linux-image-cloud-amd64'
# shellcheck disable=SC2016,SC2034
rebuild_kernels='for kernel in /boot/vmlinuz-*; do
  dpkg-reconfigure "linux-image-${kernel#/boot/vmlinuz-}"
done'
