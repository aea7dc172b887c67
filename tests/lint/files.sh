# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced: the files of the tree, for a checkout and an unpacked archive alike.

# 77 is how a test says that it can't be run here.
skip() {
  echo "skip: $1"
  exit 77
}

# tree_files - every file that isn't built or recorded, one a line, from the top of the tree.
tree_files() {
  find . \( -path ./.git -o -path './build*' -o -path ./debian -o -path ./tests/fixtures \) -prune \
    -o -type f -print | sort
}

is_shell() {
  head -n 3 "$1" | grep -Eq '^#!.*\b(ba|da)?sh$|^# shellcheck shell='
}

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
