# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Sourced by the scenario tests: what they share.
#
# scenario NAME PEERPATH_DEB PEERPATH_BIN comes first; both files may also come as environment.
# kind, set before make_image, is that of the image (see kind.sh).

vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/setup.sh
. "$vm_dir/../lib/setup.sh"
# shellcheck source=tests/lib/tap.sh
. "$vm_dir/../lib/tap.sh"
# shellcheck source=tests/vm/kind.sh
. "$vm_dir/kind.sh"

kind=bookworm-grub
stand_in=1234:11e8
stand_in_count=2
deb_in_image=/tmp/peerpath.deb
bin_in_image=/opt/peerpath-test/peerpath

# Sets: deb and bin (the files), logs (this scenario's directory), image, seen (what was collected).
scenario() {
  deb=${2:-${PEERPATH_DEB:-}}
  bin=${3:-${PEERPATH_BIN:-}}
  logs=${PEERPATH_VM_LOGS:-$vm_dir/../../build/vm}/$1
  image=$logs/image.img
  seen=$logs/collected
  # Not passed: 77 is what test drivers report as skipped.
  if [ "$(id -u)" -ne 0 ]; then
    echo "$1: skipped: needs root to mount an image" >&2
    exit 77
  fi
  need_packages vm
  rm -rf --one-file-system "$logs"
  mkdir -p "$logs"
  trap 'rm -f "$image"' EXIT
  trap 'exit 1' HUP INT TERM
}

# need_file VARIABLE - the package or the binary that the scenario can't do without.
need_file() {
  if [ ! -f "${!1}" ]; then
    echo "$0: no file '${!1}' for '$1'; usage: $0 PEERPATH_DEB PEERPATH_BIN" >&2
    exit 2
  fi
}

# Actions of image, to be put in its arguments with "${…[@]}".
# shellcheck disable=SC2034
set_actions() {
  install_package=(--copy "$deb=$deb_in_image"
    --run "apt-get install -q -y $deb_in_image && rm $deb_in_image")
  # The administrator's setting that has the stand-ins count as GPUs.
  match_stand_ins=(--run "mkdir -p /etc/peerpath
    echo match=$stand_in >>/etc/peerpath/peerpath.conf")
  copy_binary=(--copy "$bin=$bin_in_image")
  add_kernel=(--run "$second_kernel")
  audit_image=(--run 'peerpath audit --json >/tmp/audit.json || true'
    --run 'ls /boot/vmlinuz-* | sed "s|.*/vmlinuz-||" >/tmp/kernels'
    --fetch "/tmp/audit.json=$logs/audit.json" --fetch "/tmp/kernels=$logs/kernels")
}

# A failed build or boot leaves nothing to look at, so these end the test.
make_image() {
  if "$vm_dir/image" --kind "$kind" "$image" "$@" >"$logs/image.log" 2>&1; then
    pass 'the image was made'
  else
    fail 'the image was made' "$(tail -n 40 "$logs/image.log")"
    finish
  fi
}

boot_image() {
  boot_into "$logs"
  rm -f "$image"
}

# boot_as NAME [OPTION VALUE]... [-- QEMU-OPTION...] - boots the image, which stays, as the machine of
# that name: options and devices are those of boot. What's asserted next is of that machine.
boot_as() {
  tap_of="$1: "
  seen=$logs/$1/collected
  boot_into "$logs/$1" "${@:2}"
}

# boot_into DIR [OPTION VALUE]... [-- QEMU-OPTION...]
boot_into() {
  local output options=() dir=$1
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    options+=("$1")
    shift
  done
  [ $# -eq 0 ] || shift
  if output=$("$vm_dir/boot" "${options[@]}" "$image" "$dir" "$@" 2>&1); then
    pass "the image booted through its own boot loader and powered off ($output)"
  else
    fail 'the image booted through its own boot loader and powered off' "$output"
    finish
  fi
  note "kernel $(cat "$seen/kernel.out"), command line: $(cat "$seen/cmdline.out")"
}

# Their addresses, from the list of all PCI devices: one that is in no group must not be missed.
stand_ins() {
  awk -v id="$stand_in" '$2 == id { print $1 }' "$seen/pci.out"
}

# stand_ins_are WHAT PATTERN - the group type of every stand-in, as the kernel tells it.
stand_ins_are() {
  local address type
  is 'the stand-in devices are there' "$(stand_ins | wc -l)" "$stand_in_count"
  for address in $(stand_ins); do
    type=$(awk -v address="$address" '$3 == address { print $2 }' "$seen/groups.out")
    if [[ $type =~ ^($2)$ ]]; then
      pass "$address is $1 (group type $type)"
    else
      fail "$address is $1" "group type: ${type:-(in no group)}"$'\n'"$(cat "$seen/groups.out")"
    fi
  done
}

# command_line_has COUNT WORD - in the booted kernel's command line.
command_line_has() {
  local count
  count=$(tr ' ' '\n' <"$seen/cmdline.out" | grep -cFx -e "$2" || true)
  is "how often $2 is in /proc/cmdline" "$count" "$1"
}

# document_is FILE SCHEMA VERDICT - a JSON document of peerpath's.
document_is() {
  local name=${1##*/} got
  got=$(jq -r '[.schema, .schema_version, .verdict] | map(tostring) | join(" ")' "$1" 2>&1) || true
  is "$name: schema, version and verdict" "$got" "$2 1 $3"
}

# verify_agrees WHO - verify, run by root ("bare-verify") or by another user, says of each stand-in
# what the type of its group means; the type is read by the collector.
verify_agrees() {
  local address type expected
  for address in $(stand_ins); do
    type=$(awk -v address="$address" '$3 == address { print $2 }' "$seen/groups.out")
    case $type in
      identity | '') expected=ok ;;
      DMA | DMA-FQ) expected=fail ;;
      *) expected=unknown ;;
    esac
    is "$1 agrees with the kernel: $address, group type ${type:-(in no group)}" \
      "$(jq -r --arg device "$address" '[.findings[] | select(.id == "iommu.group-type"
        and .device == $device) | .status] | join(" ")' "$seen/$1.out" 2>&1)" "$expected"
  done
}

# no_false_ok STATUS - what an ordinary user's verify calls ok, root's does. STATUS: what it exits with.
no_false_ok() {
  is "an ordinary user's verify: ok where root's isn't" "$(jq -cn --slurpfile root "$seen/bare-verify.out" \
    --slurpfile user "$seen/user-verify.out" "def good: [.findings[] | select(.status == \"ok\")
      | {id, device, peer}]; (\$user[0] | good) - (\$root[0] | good)" 2>&1)" '[]'
  exited user-verify "$1"
}

# nothing_is_bad FILE - every finding of this document is ok or not applicable, and there are some.
nothing_is_bad() {
  is "${1##*/}: findings that are neither ok nor not applicable" "$(jq -c '[.findings[]
    | select(.status != "ok" and .status != "not-applicable") | "\(.id) \(.status)"]' "$1" 2>&1)" '[]'
  succeeds "${1##*/}: there are findings" jq -e '[.findings[] | select(.status == "ok")] | length > 0' "$1"
}

# findings_are FILE ID STATUS - the finding of that id says so for each stand-in.
findings_are() {
  local address status
  for address in $(stand_ins); do
    status=$(jq -r --arg id "$2" --arg device "$address" \
      '[.findings[] | select(.id == $id and .device == $device) | .status] | join(" ")' "$1" 2>&1) ||
      true
    is "${1##*/}: $2 of $address" "$status" "$3"
  done
}

# journal_findings_are ID STATUS - the same, from the fields of the service's journal entries.
journal_findings_are() {
  local address status
  for address in $(stand_ins); do
    status=$(jq -rs --arg id "$1" --arg device "$address" \
      '[.[] | select(.PEERPATH_CHECK == $id and .PEERPATH_DEVICE == $device) | .PEERPATH_STATUS]
       | join(" ")' "$seen/journal-json.out" 2>&1) || true
    is "journal: $1 of $address" "$status" "$2"
  done
}

# unit_is PROPERTY VALUE - of the boot check's unit after the boot.
unit_is() {
  is "the service: $1" "$(sed -n "s/^$1=//p" "$seen/unit-show.out")" "$2"
}

# What a good boot shows: the kernel's own word, the service's report, its journal.
booted_in_passthrough() {
  command_line_has 1 iommu=pt
  stand_ins_are passthrough identity

  exited verify 0
  document_is "$seen/verify.out" peerpath.verify ok
  findings_are "$seen/verify.out" iommu.group-type ok
  nothing_is_bad "$seen/verify.out"

  is 'the service: enabled' "$(cat "$seen/unit-enabled.out")" enabled
  unit_is Result success
  unit_is ExecMainStatus 0
  # A service that never ran has Result=success as well.
  contains 'the service: ran' "$seen/unit-show.out" '^ExecMainExitTimestampMonotonic=[1-9]'
  document_is "$seen/report.out" peerpath.report ok
  findings_are "$seen/report.out" iommu.group-type ok
  nothing_is_bad "$seen/report.out"
  journal_findings_are iommu.group-type ok
  exited status 0
}

# every_kernel_is_passthrough FILE KERNELS - by what peerpath audit --json printed to FILE; KERNELS
# lists the kernels that are installed.
every_kernel_is_passthrough() {
  local kernels
  kernels=$(jq -r '[.entries[] | select(.mode == "passthrough") | .kernel_version] | unique[]' "$1" 2>&1)
  is 'audit: kernels in passthrough' "$(sort <<<"$kernels" | xargs)" "$(sort "$2" | xargs)"
  is 'audit: entries that are not' "$(jq '[.entries[] | select(.mode != "passthrough")] | length' "$1" 2>&1)" 0
}

exited() {
  is "exit status of $1" "$(cat "$seen/$1.exit" 2>&1)" "$2"
}

same_file() {
  local difference
  if difference=$(diff "$2" "$3" 2>&1); then
    pass "$1"
  else
    fail "$1" "$difference"
  fi
}
