#!/bin/sh
# run-strict.sh PROGRAM ...: each, as the environment's RDIM_STRICT and RDIM_TIER1 say; fails if one does.
# The README's program prints its error and succeeds: its answer is looked at.
set -eu

output=$(mktemp)
files=$(mktemp -d)
trap 'rm -rf "$output" "$files"' EXIT
# The tutorial's blocks write their files where they run, and the others read the repository's.
root=$PWD
for program in "$@"; do
    case $program in */tutorial) cd "$files" ;; *) cd "$root" ;; esac
    if ! "$program" > "$output" 2>&1 || grep -q RDIM_STRICT "$output"; then
        cat "$output"
        echo "$program fails" >&2
        exit 1
    fi
    case $program in
        */readme) grep -qx '26.33 1.00' "$output" || { cat "$output"; exit 1; } ;;
    esac
done
