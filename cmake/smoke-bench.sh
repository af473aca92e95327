#!/bin/sh
# smoke-bench.sh RDIM_BENCH: every case, tiny, must run, agree with its hand-written loop, and print a line of JSON with the
# keys that readers need.  No time is looked at.
set -eu
bench=$1
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT

"$bench" --scale 0.0002 --reps 1 --threads 2 --json > "$lines"

awk -v cases="$("$bench" --list | wc -l)" '
    BEGIN { n_keys = split("row case dtype threads seconds bytes flops limit_seconds hand_seconds ratio error", key, " ") }
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
        if (NR != cases) {
            print NR " lines for " cases " cases"
            bad = 1
        }
        exit bad
    }
' "$lines"

# Mistakes on the command line are told, not run.
for wrong in "--rows W99" "--threads 0" "--scale 2" "--dtypes bf16" "--reps" "--frobnicate"; do
    # shellcheck disable=SC2086  # two words
    if "$bench" $wrong > /dev/null 2> "$lines"; then
        echo "$wrong was accepted"
        exit 1
    fi
    grep -q "^rdim-bench: " "$lines" || { echo "$wrong: no message"; exit 1; }
done

# Sizes and their drawing.
drawing=$(mktemp)
trap 'rm -f "$lines" "$drawing"' EXIT
"$bench" --growth "$drawing" --cases u8mean --threads 1 --reps 1 | grep -q " jumps$"
grep -q "<polyline .*points='[0-9]" "$drawing" && tail -n 1 "$drawing" | grep -q "</svg>"
