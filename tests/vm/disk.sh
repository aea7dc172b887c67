# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced: opens a disk image for work inside it, and always lets go of it again.
#
# The image has a DOS partition table and one ext4 partition, which holds everything. The kernel
# of the building machine need not be able to scan partitions or have device-mapper: the root file
# system is a loop device at an offset, and is mounted through a second device node of another
# name, because Debian's /etc/grub.d/10_linux writes no entry at all for a root on /dev/loop*.

vm_root_start=$((1024 * 1024))
vm_root=
vm_disk_loop=
vm_root_loop=
vm_disk_node=
vm_root_node=

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
    losetup --detach "$loop" || true
    rm -f "/dev/ppvm${loop#/dev/loop}"
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

# attach_root IMAGE - sets vm_root_node.
attach_root() {
  local image
  image=$(realpath "$1")
  release_stale "$image"
  vm_root_loop=$(losetup --find --show --offset "$vm_root_start" "$image")
  vm_root_node=$(second_name "$vm_root_loop")
}

# mount_root DIR - mounts the attached root there, sets vm_root.
mount_root() {
  mkdir -p "$1"
  mount "$vm_root_node" "$1"
  vm_root=$1
  # In use, it only detaches when it's unmounted, and then by itself.
  losetup --detach "$vm_root_loop"
}

# attach_whole IMAGE - sets vm_disk_node, which the chroot sees too; for the boot loader.
attach_whole() {
  vm_disk_loop=$(losetup --find --show "$1")
  vm_disk_node=$(second_name "$vm_disk_loop")
  cp -a "$vm_disk_node" "$vm_root/dev/"
}

# A /dev that shows the image's own root and none of the building machine's. There is no udev in
# here, as in most image pipelines; grub-mkconfig wants by-uuid to write root=UUID=.
mount_api_filesystems() {
  local dev=$vm_root/dev uuid
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
  uuid=$(blkid --probe --output value --match-tag UUID "$vm_root_node")
  ln -s "../../${vm_root_node##*/}" "$dev/disk/by-uuid/$uuid"
}

in_chroot() {
  env --ignore-environment PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
    DEBIAN_FRONTEND=noninteractive chroot "$vm_root" "$@"
}

# close_disk - safe to call at any time, any number of times; fails if something is still in use.
close_disk() {
  local rc=0
  if [ -n "$vm_root" ]; then
    umount --recursive "$vm_root" || rc=1
  elif [ -n "$vm_root_loop" ]; then
    losetup --detach "$vm_root_loop" || rc=1
  fi
  [ -z "$vm_disk_loop" ] || losetup --detach "$vm_disk_loop" || rc=1
  rm -f "${vm_root_node:-}" "${vm_disk_node:-}"
  vm_root='' vm_root_loop='' vm_root_node='' vm_disk_loop='' vm_disk_node=''
  return "$rc"
}
