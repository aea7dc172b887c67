# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced: assertions that print `ok - …` or `not ok - …`, and what was observed.
# A test goes on after a failed assertion and ends with `finish`.

tap_passed=0
tap_failed=0
# Said before each name, where the same assertions are made of several things.
tap_of=

pass() {
  tap_passed=$((tap_passed + 1))
  echo "ok - $tap_of$1"
}

# fail WHAT [OBSERVED]
fail() {
  tap_failed=$((tap_failed + 1))
  echo "not ok - $tap_of$1"
  [ $# -lt 2 ] || printf '%s\n' "$2" | sed 's/^/#   /'
}

note() {
  printf '%s\n' "$*" | sed 's/^/# /'
}

# is WHAT OBSERVED EXPECTED
is() {
  if [ "$2" = "$3" ]; then
    pass "$1 ($2)"
  else
    fail "$1" "observed: $2"$'\n'"expected: $3"
  fi
}

# succeeds WHAT COMMAND...
succeeds() {
  local what=$1 output
  shift
  if output=$("$@" 2>&1); then
    pass "$what"
  else
    fail "$what" "$* failed: $output"
  fi
}

# contains WHAT FILE PATTERN - a line of FILE matches the extended regular expression.
contains() {
  if grep -Eq -e "$3" -- "$2"; then
    pass "$1"
  else
    fail "$1" "no line of $2 matches: $3"$'\n'"$(head -n 40 -- "$2" 2>&1)"
  fi
}

# lacks WHAT FILE PATTERN - FILE can be read and no line of it matches.
lacks() {
  local found rc=0
  found=$(grep -En -e "$3" -- "$2" 2>&1) || rc=$?
  # 1 is "no match"; 2 is "could not read", which proves nothing.
  if [ "$rc" -eq 1 ]; then
    pass "$1"
  else
    fail "$1" "$found"
  fi
}

# exits WHAT STATUS COMMAND... - and keeps what it said in $work/said.
exits() {
  local what=$1 expected=$2 rc=0
  shift 2
  # shellcheck disable=SC2154
  "$@" >"$work/said" 2>&1 || rc=$?
  if [ "$rc" -eq "$expected" ]; then
    pass "$what: exit status $rc"
  else
    fail "$what: exit status $rc, not $expected" "$(tail -n 20 "$work/said")"
  fi
}

# finish - prints the count; the exit status of the test. No assertion at all is a failure.
finish() {
  echo "1..$((tap_passed + tap_failed))"
  if [ "$tap_failed" -gt 0 ]; then
    echo "# $tap_failed of $((tap_passed + tap_failed)) failed"
    exit 1
  fi
  [ "$tap_passed" -gt 0 ] || exit 1
  exit 0
}
