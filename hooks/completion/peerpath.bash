# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Bash completion for peerpath(8).

_peerpath() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local commands="ensure revert audit verify record selftest boot-check status explain"
  local words="--help"
  local command="" word

  COMPREPLY=()
  case $previous in
    --root)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      return
      ;;
    --lspci)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
    --kernel)
      mapfile -t COMPREPLY < <(compgen -W "$(command ls /lib/modules 2>/dev/null)" -- "$current")
      return
      ;;
    --device | --match | --gpu | --budget | --max-size) return ;;
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
    verify) words+=" --root --device --match --rdma-nics --lspci --verbose --json" ;;
    record) words+=" --root --force --json" ;;
    selftest)
      words+=" --quick --deep --gpu --loopback --budget --max-size --no-concurrent --force --json"
      ;;
    boot-check) words+=" --match --no-journal --json" ;;
    status) words+=" --verbose --json" ;;
    explain)
      words+=" --json"
      words+=" iommu.group-type iommu.group-members cmdline.effective"
      words+=" cmdline.conflict cmdline.fwupd iommu.default-domain"
      words+=" iommu.memory-encryption boot.pending-reboot pcie.acs-redirect"
      words+=" pcie.acs-override pcie.link pcie.bar-size platform.virtual-machine"
      words+=" platform.direct-link gpu.peer-access gpu.driver-options"
      words+=" gpu.partitioning kernel.dma-faults p2p.selftest p2p.corruption"
      words+=" p2p.host-died p2p.hang p2p.error p2p.asymmetric p2p.unsupported"
      words+=" p2p.degraded p2p.inconclusive peerpath.boot-check"
      ;;
    *) words="$commands --help --version" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _peerpath peerpath
