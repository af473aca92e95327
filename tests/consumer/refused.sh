#!/bin/sh
# Compiles refused.c without the lines marked "error: NAME", which must work, and then with each of them alone,
# which must fail with NAME in what the compiler says.  Arguments: the compiler and its flags.
set -eu
source=$(dirname "$0")/refused.c
command -v "$1" > /dev/null || { echo "no $1 here"; exit 77; }
bad=0

# The file with the marked line of this number, or with none, through the compiler.
compiled() {
    line=$1
    shift
    sed "${line}b
/error: /s/.*//" "$source" | "$@" -x c - 2>&1
}

said=$(compiled 1 "$@") || { echo "$said"; echo "refused.c: what is right does not compile"; exit 1; }
# shellcheck disable=SC2013  # numbers have no blanks
for line in $(sed -n '/error: /=' "$source"); do
    name=$(sed -n "${line}s/.*error: \([A-Za-z0-9_]*\).*/\1/p" "$source")
    if said=$(compiled "$line" "$@"); then
        echo "refused.c:$line compiles"
        bad=1
    elif ! echo "$said" | grep -q "error: .*$name"; then
        echo "refused.c:$line: the error does not say $name: $said"
        bad=1
    else
        echo "refused.c:$line is refused: $name"
    fi
done
exit $bad
