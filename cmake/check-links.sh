#!/bin/sh
# Every link of a page to a file here, or to a heading of a page, leads somewhere.
# usage: cmake/check-links.sh, in the root of the repository
set -eu
found=$(mktemp)
trap 'rm -f "$found"' EXIT
for page in README.md docs/*.md; do
    grep -o '](\([^) ]*\))' "$page" | sed 's/^](//; s/)$//' | grep -v '^[a-z]*:' | while read -r link; do
        case $link in *#*) heading=${link#*#} ;; *) heading= ;; esac
        file=${link%%#*}
        [ -n "$file" ] && file=$(dirname "$page")/$file || file=$page
        [ -e "$file" ] || { echo "$page: no file for the link $link"; continue; }
        # A heading's anchor: small letters, digits, - and _ alone, blanks as -.
        [ -z "$heading" ] || sed -n 's/^#\{1,6\} //p' "$file" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-' |
            grep -qxF -- "$heading" || echo "$page: no heading for the link $link"
    done
done > "$found"
cat "$found"
[ ! -s "$found" ]
