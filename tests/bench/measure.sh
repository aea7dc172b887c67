# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced: times two things against each other.

median() {
  printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"
}

# wall_us COMMAND... - how long it takes, in microseconds.
wall_us() {
  local start=${EPOCHREALTIME/./}
  "$@"
  echo $((${EPOCHREALTIME/./} - start))
}

# cpu_ms COMMAND... - processor time of it and its children, in milliseconds. What it prints goes
# to standard error.
cpu_ms() {
  local TIMEFORMAT='%3U %3S' times
  times=$({ time "$@" >/dev/null 2>&1; } 2>&1)
  # 10#: bash takes 0123 for octal.
  local user=${times% *} system=${times#* }
  echo $((10#${user/./} + 10#${system/./}))
}

# in_turns COUNT OURS PEER - wall times of two functions, one after the other so that whatever else
# the machine does falls on both. Sets ours_median and peer_median.
in_turns() {
  local i ours=() peer=()
  for ((i = 0; i < $1; i++)); do
    ours+=("$(wall_us "$2")")
    peer+=("$(wall_us "$3")")
  done
  # shellcheck disable=SC2034
  ours_median=$(median "${ours[@]}") peer_median=$(median "${peer[@]}")
}

ratio() {
  awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'
}

# no_more_than WHAT VALUE LIMIT
no_more_than() {
  if [ "$2" -le "$3" ]; then
    pass "$1 ($2, limit $3)"
  else
    fail "$1" "$2, limit $3"
  fi
}
