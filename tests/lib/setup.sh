# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced: installs the Debian packages that a test needs.

setup_lib=$(dirname "${BASH_SOURCE[0]}")

# packages_of GROUP... - their packages, one a line.
packages_of() {
  local group
  for group in "$@"; do
    if ! grep -q "^$group:" "$setup_lib/packages"; then
      echo "packages_of: no group '$group' in $setup_lib/packages" >&2
      return 1
    fi
    sed -n "s/^$group: *//p" "$setup_lib/packages" | tr -s ' ' '\n'
  done
}

is_installed() {
  [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# missing_of PACKAGE... - those that aren't installed, one a line.
missing_of() {
  local package
  for package in "$@"; do
    is_installed "$package" || echo "$package"
  done
}

# need_packages GROUP... - installs what is missing, and only that. Tests that start together wait
# for each other: apt doesn't.
need_packages() {
  local wanted missing
  wanted=$(packages_of "$@")
  mapfile -t wanted <<<"$wanted"
  missing=$(missing_of "${wanted[@]}")
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    echo "need_packages: not root; install these first: $(xargs <<<"$missing")" >&2
    return 1
  fi
  (
    flock 9
    mapfile -t missing < <(missing_of "${wanted[@]}")
    [ ${#missing[@]} -gt 0 ] || exit 0
    echo "installing: ${missing[*]}"
    apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
  ) 9</var/lib/dpkg
}
