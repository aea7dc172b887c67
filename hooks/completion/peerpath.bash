# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Bash completion for peerpath(8).

_peerpath() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local commands="ensure revert audit verify boot-check status explain"
  local words="--help"
  local command="" word

  COMPREPLY=()
  case $previous in
    --root)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      return
      ;;
    --kernel)
      mapfile -t COMPREPLY < <(compgen -W "$(command ls /lib/modules 2>/dev/null)" -- "$current")
      return
      ;;
    --device | --match) return ;;
  esac

  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ " $commands " == *" $word "* ]]; then
      command=$word
      break
    fi
  done

  case $command in
    ensure) words+=" --root --dry-run --force --kernel --json" ;;
    revert) words+=" --root --dry-run --json" ;;
    audit) words+=" --root --kernel --json" ;;
    verify) words+=" --root --device --match --json" ;;
    boot-check) words+=" --match --no-journal --json" ;;
    status) words+=" --json" ;;
    explain)
      words+=" --json"
      words+=" iommu.group-type cmdline.effective cmdline.conflict boot.pending-reboot"
      words+=" p2p.selftest peerpath.boot-check"
      ;;
    *) words="$commands --help --version" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _peerpath peerpath
