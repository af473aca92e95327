#!/bin/sh
# Compiles the public header, and each part of it alone, as C11, C17 and C++17, by gcc and g++; with RDIM_TESTS=every by
# clang and clang++ too.  Arguments: the folder of the header, and flags.
set -eu
folder=$1
shift
bad=0
compilers="gcc g++"
[ "${RDIM_TESTS-}" != every ] || compilers="$compilers clang clang++"

# One file by one compiler: the file's name as a user includes it, then the compiler and its language.
compiled() {
    name=$1
    shift
    echo "#include <$name>" | "$@" - || { echo "$name does not compile alone: $*"; bad=1; }
}

for compiler in $compilers; do
    command -v "$compiler" > /dev/null || { echo "no $compiler here"; continue; }
    for file in "$folder"/rdim.h "$folder"/rdim.hpp "$folder"/rdim/*.h*; do
        name=${file#"$folder"/}
        case $compiler:$name in
            *++:*)   compiled "$name" "$compiler" "$@" -x c++ -std=c++17 ;;
            *:*.hpp) ;;
            *)       compiled "$name" "$compiler" "$@" -x c -std=c11
                     compiled "$name" "$compiler" "$@" -x c -std=c17 ;;
        esac
    done
done
exit $bad
