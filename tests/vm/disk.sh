# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced: opens a disk image for work inside it, and always lets go of it again.
#
# The image has a DOS partition table and one ext4 partition, which holds everything, or a GPT with
# an EFI system partition and an ext4 one (use_firmware). The kernel of the building machine need not
# be able to scan partitions or have device-mapper: the root file system is a loop device at an
# offset, and is mounted through a second device node of another name, because Debian's
# /etc/grub.d/10_linux writes no entry at all for a root on /dev/loop*.
# Nor need it know vfat: while there's work in the image, the ESP's partition holds an ext4 file
# system, mounted where the ESP will be, and fill_esp makes a FAT of it at the end.

vm_mib=$((1024 * 1024))
vm_disk_size=$((2048 * vm_mib))
vm_esp_start=$vm_mib
vm_esp_size=$((255 * vm_mib))
vm_esp_dir=/efi
vm_esp_loop=
vm_esp_node=
vm_root=
vm_disk_loop=
vm_root_loop=
vm_disk_node=
vm_root_node=

# use_firmware bios|efi - where the root file system is in the image. bios, if nothing is said.
use_firmware() {
  vm_firmware=$1
  case $1 in
    bios) vm_root_start=$vm_mib ;;
    efi) vm_root_start=$((vm_esp_start + vm_esp_size)) ;;
  esac
  # Behind it, the GPT has its copy.
  vm_root_size=$((vm_disk_size - vm_root_start - vm_mib))
}

use_firmware bios

# partition_disk IMAGE - makes the file and its partition table.
partition_disk() {
  local root="start=$((vm_root_start / 512)), size=$((vm_root_size / 512))"
  truncate --size="$vm_disk_size" "$1"
  if [ "$vm_firmware" = bios ]; then
    echo "$root, type=83, bootable" | sfdisk --quiet "$1"
  else
    printf '%s\n' 'label: gpt' \
      "start=$((vm_esp_start / 512)), size=$((vm_esp_size / 512)), type=uefi, name=esp" \
      "$root, type=linux" | sfdisk --quiet "$1"
  fi
}

# With a mount namespace of its own, a script that is killed outright leaves no mount behind, and
# its loop devices, which are set to go with their last user, go too. Not possible where / is not
# a mount point (a plain chroot); the trap and release_stale have to do there.
own_mount_namespace() {
  if [ -z "${PEERPATH_VM_NAMESPACE:-}" ] && unshare --mount true 2>/dev/null; then
    PEERPATH_VM_NAMESPACE=1 exec unshare --mount -- "$0" "$@"
  fi
}

# What a killed run left of this image where it had no namespace of its own.
release_stale() {
  local image=$1 loop
  losetup --noheadings --output NAME --associated "$image" | while read -r loop; do
    umount_all_of "/dev/ppvm${loop#/dev/loop}"
    rm -f "/dev/ppvm${loop#/dev/loop}"
    losetup --detach "$loop" || true
  done
}

umount_all_of() {
  local target
  awk -v node="$1" '$1 == node { print $2 }' /proc/self/mounts | while read -r target; do
    umount --recursive "$target" || umount --lazy "$target" || true
  done
}

# second_name LOOP - makes another device node for a loop device and prints its path.
second_name() {
  local node="/dev/ppvm${1#/dev/loop}"
  rm -f "$node"
  mknod --mode=600 "$node" b "$(stat --format=%Hr "$1")" "$(stat --format=%Lr "$1")"
  echo "$node"
}

# attach_root IMAGE - sets vm_root_node, and vm_esp_node where there's one.
attach_root() {
  local image
  image=$(realpath "$1")
  release_stale "$image"
  vm_root_loop=$(losetup --find --show --offset "$vm_root_start" --sizelimit "$vm_root_size" "$image")
  vm_root_node=$(second_name "$vm_root_loop")
  [ "$vm_firmware" = efi ] || return 0
  vm_esp_loop=$(losetup --find --show --offset "$vm_esp_start" --sizelimit "$vm_esp_size" "$image")
  vm_esp_node=$(second_name "$vm_esp_loop")
}

# mount_root DIR - mounts the attached root there, sets vm_root.
mount_root() {
  mkdir -p "$1"
  mount "$vm_root_node" "$1"
  vm_root=$1
  let_go_of vm_root_loop
}

mount_esp() {
  mkdir -p "$vm_root$vm_esp_dir"
  mount "$vm_esp_node" "$vm_root$vm_esp_dir"
  let_go_of vm_esp_loop
}

# let_go_of VARIABLE - detaches the loop device that it names. In use, it only detaches when it's
# unmounted, and then by itself.
let_go_of() {
  local loop=${!1}
  printf -v "$1" ''
  [ -z "$loop" ] || losetup --detach "$loop"
}

# fill_esp IMAGE DIR - makes a real ESP of it, with what is in it, which ends the work in there. DIR is
# scratch.
fill_esp() {
  local esp="$1@@$vm_esp_start"
  cp -R "$vm_root$vm_esp_dir" "$2"
  rm -rf "$2/lost+found"
  umount "$vm_root$vm_esp_dir"
  # What is left of the ext4 would have udev know neither file system nor partition.
  fallocate --punch-hole --offset "$vm_esp_start" --length "$vm_esp_size" "$1"
  mformat -i "$esp" -F -T "$((vm_esp_size / 512))" -h 16 -s 63 -v ESP ::
  mcopy -s -Q -m -i "$esp" "$2"/* ::
  rm -rf "$2"
}

# attach_whole IMAGE - sets vm_disk_node, which the chroot sees too; for the boot loader.
attach_whole() {
  vm_disk_loop=$(losetup --find --show "$1")
  vm_disk_node=$(second_name "$vm_disk_loop")
  cp -a "$vm_disk_node" "$vm_root/dev/"
}

uuid_of_root() {
  blkid --probe --output value --match-tag UUID "$vm_root_node"
}

# The ESP where there's one, and a /dev that shows the image's own root and none of the building
# machine's. There is no udev in here, as in most image pipelines; grub-mkconfig wants by-uuid to
# write root=UUID=.
mount_api_filesystems() {
  local dev=$vm_root/dev
  [ -z "$vm_esp_node" ] || mount_esp
  mount -t proc proc "$vm_root/proc"
  mount -t sysfs sysfs "$vm_root/sys"
  mount -t tmpfs -o mode=755 dev "$dev"
  mknod --mode=666 "$dev/null" c 1 3
  mknod --mode=666 "$dev/zero" c 1 5
  mknod --mode=666 "$dev/full" c 1 7
  mknod --mode=666 "$dev/random" c 1 8
  mknod --mode=666 "$dev/urandom" c 1 9
  mknod --mode=666 "$dev/tty" c 5 0
  ln -s /proc/self/fd "$dev/fd"
  mkdir -p "$dev/pts" "$dev/shm" "$dev/disk/by-uuid"
  cp -a "$vm_root_node" "$dev/"
  ln -s "../../${vm_root_node##*/}" "$dev/disk/by-uuid/$(uuid_of_root)"
}

# What systemd wants to know of an ESP is true only when fill_esp has been there.
in_chroot() {
  env --ignore-environment PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
    DEBIAN_FRONTEND=noninteractive SYSTEMD_RELAX_ESP_CHECKS=1 chroot "$vm_root" "$@"
}

# close_disk - safe to call at any time, any number of times; fails if something is still in use.
close_disk() {
  local rc=0
  # First the names: with its last user a loop device goes, and the next one of that number may be
  # somebody else's, with a second name of the same.
  rm -f "${vm_root_node:-}" "${vm_esp_node:-}" "${vm_disk_node:-}"
  [ -z "$vm_root" ] || umount --recursive "$vm_root" || rc=1
  let_go_of vm_root_loop || rc=1
  let_go_of vm_esp_loop || rc=1
  let_go_of vm_disk_loop || rc=1
  vm_root='' vm_root_node='' vm_esp_node='' vm_disk_node=''
  return "$rc"
}
