# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced: root directories of Debian, made by mmdebstrap once and kept as archives.

# How this machine reaches its mirror (proxy, a clock that is off) holds for the root as well.
root_apt_connection() {
  apt-config dump | grep -E '^Acquire::(Check-Valid-Until|Check-Date|Retries|https?)\b' || true
}

# root_apt_sources SUITE - from the Debian mirrors that this machine uses, so that a machine which
# sees only a mirror works.
root_apt_sources() {
  local uris debian security
  # The $(…) are apt's, not the shell's.
  # shellcheck disable=SC2016
  uris=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' 'Created-By: Packages' |
    awk '$1 ~ /^http:/ && $2 == "Debian" { print $3, $1 }')
  debian=$(awk '$1 == "Debian" { print $2; exit }' <<<"$uris")
  security=$(awk '$1 == "Debian-Security" { print $2; exit }' <<<"$uris")
  debian=${debian:-http://deb.debian.org/debian}
  echo "deb $debian $1 main"
  echo "deb $debian $1-updates main"
  echo "deb ${security:-http://deb.debian.org/debian-security} $1-security main"
}

# root_archive CACHE_DIR SUITE PACKAGE... - prints the path of an archive of a root with no more
# than what is essential, and these packages. Its name carries a checksum of this recipe.
# Remove the cache to take in newer Debian packages.
root_archive() {
  local cache=$1 suite=$2 archive making
  shift 2
  mkdir -p "$cache"
  archive=$(declare -f root_archive root_apt_sources && echo "$*")
  archive=$cache/root-$suite-$(sha256sum <<<"$archive" | cut -c1-12).tar
  (
    # Tests that start together share one.
    flock 9
    [ ! -e "$archive" ] || exit 0
    making=$(mktemp -d)
    trap 'rm -rf "$making"' EXIT
    trap 'exit 1' HUP INT TERM
    echo "making $archive" >&2
    root_apt_connection >"$making/apt.conf"
    root_apt_sources "$suite" >"$making/sources.list"
    printf '%s\n' force-unsafe-io 'path-exclude=/usr/share/doc/*' 'path-exclude=/usr/share/man/*' \
      'path-exclude=/usr/share/locale/*' >"$making/dpkg.conf"
    if ! mmdebstrap --quiet --mode=root --variant=essential --include="$(tr ' ' , <<<"$*")" \
      --aptopt="$making/apt.conf" --aptopt='APT::Install-Recommends "false"' \
      --dpkgopt="$making/dpkg.conf" "$suite" "$making/root.tar" "$making/sources.list" \
      >"$making/log" 2>&1; then
      tail -n 40 "$making/log" >&2
      exit 1
    fi
    mv "$making/root.tar" "$archive.new"
    mv "$archive.new" "$archive"
  ) 9>"$cache/root-$suite.lock" || return
  echo "$archive"
}

# open_root ARCHIVE DIR - unpacks it there, sets root. /proc is mounted: call own_mount_namespace
# first, and close_root at the end.
open_root() {
  root=$2
  close_root
  mkdir -p "$root"
  tar -C "$root" -xf "$1"
  mount -t proc proc "$root/proc"
}

# close_root - safe to call at any time; fails if something is still in use.
close_root() {
  [ -n "${root-}" ] || return 0
  if mountpoint -q "$root/proc"; then
    umount "$root/proc" || return
  fi
  rm -rf --one-file-system "$root"
}

in_root() {
  env --ignore-environment PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
    DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
}

# give_libraries PROGRAM - copies into the root what PROGRAM is linked with and the root lacks, be
# it of another release of Debian.
give_libraries() {
  local dir=usr/lib/x86_64-linux-gnu library
  ldd "$1" | awk '$2 == "=>" { print $3 }' | while read -r library; do
    [ -e "$root/$dir/${library##*/}" ] || cp -L "$library" "$root/$dir/"
  done
}
