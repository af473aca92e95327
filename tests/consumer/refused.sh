#!/bin/sh
# Compiles a file without the lines marked "error: TEXT", which must work, and then with each of them alone, which
# must fail with TEXT in what the compiler says.  Arguments: the file, c or c++, the compiler and its flags.
set -eu
source=$1
language=$2
shift 2
command -v "$1" > /dev/null || { echo "no $1 here"; exit 77; }
bad=0

# The file with the marked line of this number, or with none, through the compiler.
compiled() {
    line=$1
    shift
    sed "${line}b
/error: /s/.*//" "$source" | "$@" -x "$language" - 2>&1
}

said=$(compiled 1 "$@") || { echo "$said"; echo "$source: what is right does not compile"; exit 1; }
# shellcheck disable=SC2013  # numbers have no blanks
for line in $(sed -n '/error: /=' "$source"); do
    name=$(sed -n "${line}s/.*error: \(.*[^ */]\).*/\1/p" "$source")
    if said=$(compiled "$line" "$@"); then
        echo "$source:$line compiles"
        bad=1
    elif ! echo "$said" | grep -Eq "error: .*($name)"; then
        echo "$source:$line: the error does not say $name: $said"
        bad=1
    else
        echo "$source:$line is refused: $name"
    fi
done
exit $bad
