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

# Its grub-mkconfig reads the settings and writes the entries as Debian's does. Where there's a FIFO
# /gate it writes its process number there, waits for an answer, and does its work in a process of
# its own: somebody can attach himself to that, and to nothing of what started it.
grub_with_grub_d() {
  common "$1"
  mkdir -p "$1/etc/default/grub.d" "$1/usr/sbin" "$1/boot/grub"
  printf 'GRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX_DEFAULT="quiet"\nGRUB_CMDLINE_LINUX=""\n' \
    >"$1/etc/default/grub"
  printf '#!/bin/sh\necho /dev/vda1\n' >"$1/usr/sbin/grub-probe"
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
for x in /etc/default/grub.d/*.cfg; do
  [ ! -e "$x" ] || . "$x"
done
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
  } >"$1/usr/sbin/grub-mkconfig"
  ln -s busybox "$1/bin/rm"
  chmod 0755 "$1"/usr/sbin/*
  chroot "$1" /usr/sbin/grub-mkconfig -o /boot/grub/grub.cfg
  chmod 0444 "$1/boot/grub/grub.cfg"
  old "$1"
}
