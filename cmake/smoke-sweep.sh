#!/bin/sh
# smoke-sweep.sh RDIM_SWEEP: some expressions, small, must run, agree with their loops, and print a line of JSON each with the
# keys that readers need.  No time is looked at.
set -eu
sweep=$1
lines=$(mktemp)
again=$(mktemp)
trap 'rm -f "$lines" "$again"' EXIT

# Its Python texts are not freed one by one.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

"${CC:-cc}" --version > /dev/null 2>&1 || { echo "no compiler for the loops"; exit 77; }
"$sweep" --count 12 --seed 1 --max-bytes 100000 --threads 1 --seconds 0.001 --json > "$lines"

awk '
    BEGIN {
        n_keys = split("seed kind expr dtype threads seconds loop_seconds numpy_seconds ratio work form hash", key, " ")
    }
    {
        if ($0 !~ /^{"[a-z_]+": ("[^"]*"|-?[0-9.e+-]+|null)(, "[a-z_]+": ("[^"]*"|-?[0-9.e+-]+|null))*}$/) {
            print "line " NR " is no JSON object: " $0
            bad = 1
        }
        for (k = 1; k <= n_keys; k++)
            if (index($0, "\"" key[k] "\": ") == 0) {
                print "line " NR " has no " key[k] ": " $0
                bad = 1
            }
    }
    END {
        if (NR != 12) {
            print NR " lines for 12 expressions"
            bad = 1
        }
        exit bad
    }
' "$lines"

# A seed is an expression, and its bits are always the same.
"$sweep" --only 5 --max-bytes 100000 --hash-only > /dev/null
"$sweep" --count 12 --seed 1 --max-bytes 100000 --hash-only --json > "$again"
for file in "$lines" "$again"; do
    sed 's/.*"seed": \([0-9]*\).*"hash": "\([0-9a-f]*\)".*/\1 \2/' "$file" > "$file.hashes"
done
cmp "$lines.hashes" "$again.hashes"
rm -f "$lines.hashes" "$again.hashes"

# Each expression has an estimate, and the summary says how far off they are.
"$sweep" --estimates --count 12 --seed 1 --max-bytes 100000 --seconds 0.001 > "$again"
[ "$(grep -c ' measured [0-9.]* us, estimate [0-9.]* us: ' "$again")" = 12 ] || { cat "$again"; exit 1; }
grep -q '^estimate  all  .*  *12 expressions: median error' "$again" || { cat "$again"; exit 1; }

# Mistakes on the command line are told, not run.
for wrong in "--threads 0" "--count x" "--seed" "--frobnicate"; do
    # shellcheck disable=SC2086  # two words
    if "$sweep" $wrong > /dev/null 2> "$lines"; then
        echo "$wrong was accepted"
        exit 1
    fi
    grep -q "^rdim-sweep: " "$lines" || { echo "$wrong: no message"; exit 1; }
done
