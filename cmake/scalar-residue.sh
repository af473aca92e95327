#!/bin/sh
# scalar-residue.sh RDIM_NESTS LIST: of 2,000 expressions of the sweep no other stages run element by element than those of
# LIST, each with its reasons: "seed stage reasons".  A stage counts from a fifth of its time on; those of LIST that are
# down to a tenth are told, and can be taken from it.  Nothing runs, so any machine that has the kernels has the same plans.
set -eu
nests=$1
list=$2
found=$(mktemp)
trap 'rm -rf "$found" "$found.cache"' EXIT
export RDIM_ISA=avx2 RDIM_TIER1=cache XDG_CACHE_HOME="$found.cache"
mkdir "$found.cache"

"$nests" --scalar 1 2000 > "$found"
grep -q '^-- .* stages, ' "$found" || { echo "no sums"; exit 1; }
awk -v list="$list" '
    BEGIN {
        while ((getline line < list) > 0)
            if (line !~ /^#/ && split(line, word, " ") >= 3)
                left[word[1] " " word[2]] = word[3]
    }
    /^[0-9]/ {
        seen[$1 " " $2] = 1
        if ($4 + 0 >= 20 && !($1 " " $2 in left)) {
            print "not in the list: " $0
            bad = 1
        }
    }
    END {
        for (k in left)
            if (!(k in seen))
                print "can be taken from the list: " k " " left[k]
        exit bad
    }
' "$found"
