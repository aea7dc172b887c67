# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Bash completion for peerpath(8). What there is to complete, the program itself says.

# _peerpath_options HELP - its options, one a line, each with what its value stands for, if any.
_peerpath_options() {
  sed -nE 's/^  (-[a-z] \[ )?(--[a-z-]+)( \])?( ([A-Z][^ ]*))?( .*|$)/\2 \5/p' <<<"$1"
}

_peerpath() {
  local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]}
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local help words

  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=$("$program" --help 2>/dev/null | sed -nE 's/^  ([a-z][a-z-]*)  .*/\1/p')
    mapfile -t COMPREPLY < <(compgen -W "$words --help --version" -- "$current")
    return
  fi
  help=$("$program" "$command" --help 2>/dev/null) || return
  case $(_peerpath_options "$help" | awk -v option="$previous" '$1 == option { print $2 }') in
    '') ;;
    DIR)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      return
      ;;
    FILE)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
    VER)
      mapfile -t COMPREPLY < <(compgen -W "$(command ls /lib/modules 2>/dev/null)" -- "$current")
      return
      ;;
    *) return ;;
  esac
  words=$(_peerpath_options "$help" | sed 's/ .*//')
  if [ "$command" = explain ]; then
    words+=" $("$program" explain 2>/dev/null | sed -nE 's/^([a-z0-9]+\.[a-z0-9-]+) .*/\1/p')"
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _peerpath peerpath
