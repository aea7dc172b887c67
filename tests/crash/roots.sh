# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced: small roots, one for each kind of boot loader. Each function makes one in $1.

# shellcheck disable=SC2034
crash_kernels="6.12.0-55.el10.x86_64 6.12.0-60.el10.x86_64"

# common ROOT - a Linux root with a shell that runs in a chroot. Times are old, so that a time
# which is the present one shows.
common() {
  mkdir -p "$1"/{bin,dev,etc,var/lib,boot}
  cp /bin/busybox "$1/bin/busybox"
  ln -s busybox "$1/bin/sh"
  ln -s busybox "$1/bin/cat"
  echo ID=linux >"$1/etc/os-release"
  local kernel
  for kernel in $crash_kernels; do
    echo kernel >"$1/boot/vmlinuz-$kernel"
  done
}

# entries ROOT DIRECTORY - boot loader entries, with modes that aren't ours.
entries() {
  local kernel
  mkdir -p "$1$2"
  for kernel in $crash_kernels; do
    printf 'title Linux (%s)\nversion %s\nlinux /vmlinuz-%s\ninitrd /initramfs-%s.img\noptions root=UUID=11-22 ro quiet\n' \
      "$kernel" "$kernel" "$kernel" "$kernel" >"$1$2/0123-$kernel.conf"
    chmod 0640 "$1$2/0123-$kernel.conf"
  done
  mkdir -p "$1/etc/kernel"
  echo 'root=UUID=11-22 ro quiet' >"$1/etc/kernel/cmdline"
}

# old ROOT - gives everything in it a time in the past.
old() {
  find "$1" -exec touch -h -d '2024-02-03 04:05:06.123456789 UTC' {} +
}

bls_under_grub() {
  common "$1"
  entries "$1" /boot/loader/entries
  mkdir -p "$1/boot/grub2" "$1/etc/grub.d"
  printf 'insmod blscfg\nblscfg\n' >"$1/boot/grub2/grub.cfg"
  chmod 0600 "$1/boot/grub2/grub.cfg"
  old "$1"
}

bls_under_systemd_boot() {
  common "$1"
  entries "$1" /boot/loader/entries
  mkdir -p "$1/boot/EFI/systemd"
  echo program >"$1/boot/EFI/systemd/systemd-bootx64.efi"
  old "$1"
}

# Its grub-mkconfig reads the settings and writes the entries as Debian's does.
# shellcheck disable=SC2016
grub_with_grub_d() {
  common "$1"
  mkdir -p "$1/etc/default/grub.d"
  grub "$1" grub 'for x in /etc/default/grub.d/*.cfg; do
  [ ! -e "$x" ] || . "$x"
done'
}

# As upstream's GRUB: /etc/default/grub is all that's read.
grub_with_settings_alone() {
  common "$1"
  mkdir -p "$1/etc/default"
  grub "$1" grub2 :
}

# grub ROOT NAME CODE - GRUB by that name; its NAME-mkconfig runs the code after it read
# /etc/default/grub. Where there's a FIFO /gate it writes its process number there, waits for an
# answer, and does its work in a process of its own: somebody can attach himself to that, and to
# nothing of what started it.
grub() {
  mkdir -p "$1/usr/sbin" "$1/boot/$2"
  printf 'GRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX_DEFAULT="quiet"\nGRUB_CMDLINE_LINUX=""\n' \
    >"$1/etc/default/grub"
  printf '#!/bin/sh\necho /dev/vda1\n' >"$1/usr/sbin/$2-probe"
  {
    printf '#!/bin/sh\nset -e\nkernels="%s"\n' "$crash_kernels"
    cat <<'SCRIPT'
if [ -p /gate ] && [ -z "${gate_is_open-}" ]; then
  echo $$ >/gate
  read -r go </gate || :
  gate_is_open=yes "$0" "$@"
  exit
fi
. /etc/default/grub
SCRIPT
    printf '%s\n' "$3"
    cat <<'SCRIPT'
new=$2.new
echo '### BEGIN /etc/grub.d/10_linux ###' >"$new"
for kernel in $kernels; do
  cat >>"$new" <<ENTRY
menuentry 'Linux, with Linux $kernel' --class gnu-linux \$menuentry_id_option 'gnulinux-$kernel' {
	linux	/boot/vmlinuz-$kernel root=UUID=11-22 ro $GRUB_CMDLINE_LINUX $GRUB_CMDLINE_LINUX_DEFAULT
	initrd	/boot/initrd.img-$kernel
}
ENTRY
done
echo '### END /etc/grub.d/10_linux ###' >>"$new"
cat "$new" >"$2"
rm -f "$new"
SCRIPT
  } >"$1/usr/sbin/$2-mkconfig"
  ln -s busybox "$1/bin/rm"
  chmod 0755 "$1"/usr/sbin/*
  chroot "$1" "/usr/sbin/$2-mkconfig" -o "/boot/$2/grub.cfg"
  chmod 0444 "$1/boot/$2/grub.cfg"
  old "$1"
}

# Unified kernel images that were built elsewhere, and the settings that ask for an addon. Its ukify
# has one ready.
# shellcheck disable=SC2016
unified_kernel_images() {
  local kernel
  common "$1"
  mkdir -p "$1/boot/efi/EFI/Linux" "$1/usr/bin" "$1/usr/lib/systemd/boot/efi" "$1/etc/peerpath"
  for kernel in $crash_kernels; do
    pe "$1/boot/efi/EFI/Linux/$kernel.efi" .sdmagic '#### LoaderInfo: systemd-stub 257.1-1 ####' \
      .linux kernel .uname "$kernel" .cmdline 'root=UUID=11-22 ro quiet'
  done
  echo 'uki-addon=yes' >"$1/etc/peerpath/peerpath.conf"
  echo stub >"$1/usr/lib/systemd/boot/efi/addonx64.efi.stub"
  pe "$1/usr/lib/addon" .sdmagic '#### LoaderInfo: systemd-addon 257.1-1 ####' .cmdline iommu=pt
  printf '#!/bin/sh\nfor last; do :; done\ncat /usr/lib/addon >"$last"\n' >"$1/usr/bin/ukify"
  chmod 0755 "$1/usr/bin/ukify"
  old "$1"
}

# Vendors' stacks as an image has them: their tools aren't run, and what ensure writes are the
# settings.
kernelstub() {
  common "$1"
  entries "$1" /boot/loader/entries
  mkdir -p "$1/etc/kernelstub"
  printf '{\n  "default": {"kernel_options": ["quiet"]},\n  "user": {\n    "kernel_options": [\n      "quiet",\n      "splash"\n    ]\n  }\n}\n' \
    >"$1/etc/kernelstub/configuration"
  chmod 0640 "$1/etc/kernelstub/configuration"
  old "$1"
}

# shellcheck disable=SC2016
sdbootutil() {
  common "$1"
  entries "$1" /boot/loader/entries
  mkdir -p "$1/etc/sysconfig" "$1/usr/bin"
  echo 'LOADER_TYPE="systemd-boot"' >"$1/etc/sysconfig/bootloader"
  printf '#!/bin/sh\nfor i in /etc/kernel/cmdline.d/*; do cat "$i"; done\n' >"$1/usr/bin/sdbootutil"
  chmod 0755 "$1/usr/bin/sdbootutil"
  old "$1"
}

garden_linux() {
  common "$1"
  entries "$1" /boot/loader/entries
  mkdir -p "$1/etc/kernel/cmdline.d"
  echo 'CMDLINE_LINUX="ro"' >"$1/etc/kernel/cmdline.d/00-default.cfg"
  old "$1"
}

# pe FILE [SECTION TEXT]... - a PE image for x86-64: at 0x80 its header, without data directories, at
# 0x108 the table of the sections, each of which has 512 bytes from 1024 on.
pe() {
  local file=$1 header=$((0x108)) data=1024
  shift
  truncate -s $((data + $# * 256)) "$file"
  bytes "$file" 0 MZ
  number "$file" $((0x3c)) $((0x80))
  bytes "$file" $((0x80)) PE
  number "$file" $((0x84)) $((0x8664 | ($# / 2) << 16))
  number "$file" $((0x94)) $((0x108 - 0x98))
  number "$file" $((0x98)) $((0x20b))
  while [ $# -gt 0 ]; do
    bytes "$file" "$header" "$1"
    number "$file" $((header + 8)) ${#2}
    number "$file" $((header + 12)) $((data * 8))
    number "$file" $((header + 16)) 512
    number "$file" $((header + 20)) "$data"
    bytes "$file" "$data" "$2"
    header=$((header + 40))
    data=$((data + 512))
    shift 2
  done
}

bytes() {
  printf %s "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# number FILE OFFSET VALUE - four bytes, the lowest first.
number() {
  local escaped
  escaped=$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($3 & 255)) $(($3 >> 8 & 255)) $(($3 >> 16 & 255)) $(($3 >> 24)))
  printf %b "$escaped" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
