#!/bin/sh
# run-example.sh PROGRAM EXPECTED: fails unless PROGRAM succeeds and prints EXPECTED, byte for byte.
set -eu
program=$1
expected=$2

# Without this an example that nobody wrote the answer for would pass as long as it did not crash.
if [ ! -f "$expected" ]; then
    echo "no $expected; check the output, then write it with: $program > $expected" >&2
    exit 1
fi

output=$(mktemp)
trap 'rm -f "$output"' EXIT
"$program" > "$output" || {
    status=$?
    cat "$output"
    echo "$program: exit status $status" >&2
    exit 1
}
diff -u "$expected" "$output"
