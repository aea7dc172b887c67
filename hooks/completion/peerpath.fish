# SPDX-License-Identifier: GPL-2.0-or-later
# Fish completion for peerpath(8). What there is to complete, the program itself says.

function __peerpath_commands
    set -l words (commandline -opc)
    $words[1] --help 2>/dev/null | string replace -rf '^  ([a-z][a-z-]*)  +(.*)' '$1\t$2'
    printf '%s\n' --help --version
end

# What the value of the option before the cursor stands for, or nothing.
function __peerpath_value
    set -l words (commandline -opc)
    set -l option (string escape --style=regex -- $words[-1])
    $words[1] $words[2] --help 2>/dev/null |
        string replace -rf "^  (?:-[a-z] \[ )?$option(?: \])? ([A-Z][^ ]*).*" '$1'
end

function __peerpath_words
    set -l words (commandline -opc)
    switch (__peerpath_value)
        case ''
            $words[1] $words[2] --help 2>/dev/null |
                string replace -rf '^  (?:-[a-z] \[ )?(--[a-z-]+)(?: \])?(?: [A-Z][^ ]*)?(?: +(.*)|$)' '$1\t$2'
            test "$words[2]" = explain
            and $words[1] explain 2>/dev/null | string replace -rf '^([a-z0-9]+\.[a-z0-9-]+) +(.*)' '$1\t$2'
        case DIR
            __fish_complete_directories (commandline -ct)
        case FILE
            __fish_complete_path (commandline -ct)
        case VER
            command ls /lib/modules 2>/dev/null
    end
end

complete -c peerpath -f
complete -c peerpath -n __fish_use_subcommand -a '(__peerpath_commands)'
complete -c peerpath -n 'not __fish_use_subcommand' -a '(__peerpath_words)'
