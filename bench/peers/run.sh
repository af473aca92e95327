#!/bin/sh
# run.sh [--threads 1,2] [--rows W1,W3] [PEER...]: runs the cases of rdim-bench in other libraries, those that are
# installed, and prints lines of JSON as rdim-bench does, with a key "peer".  Peers: numpy torch numexpr pykeops
# numba bottleneck scipy, and of W13 graphblas eigen, which the C and C++ compilers make (libgraphblas-dev, libeigen3-dev).
# Debian has python3-numpy, python3-torch, python3-numexpr; pip has the others.  PYTHON names another interpreter.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
threads="1"
rows=""

while [ $# -gt 0 ]; do
    case $1 in
    --threads | --rows)
        [ $# -gt 1 ] || { echo "run.sh: $1 needs a value" >&2; exit 2; }
        value=$(echo "$2" | tr ',' ' ')
        if [ "$1" = --rows ]; then rows=$value; else threads=$value; fi
        shift 2 ;;
    -*)
        sed -n '2,6s/^# //p' "$0" >&2
        exit 2 ;;
    *) break ;;
    esac
done

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
flags="-O3 -march=native -fopenmp"
# shellcheck disable=SC2086  # several flags are several words
"${CC:-cc}" $flags -fPIC -shared "$here/../patterns.c" -o "$made/patterns.so" -lm && export BENCH_PATTERNS="$made/patterns.so"

wants() {
    [ -z "$rows" ] && return 0
    for row in $rows; do [ "$row" = "$1" ] && return 0; done
    return 1
}

# compiled PEER COMPILER SOURCE FLAG...: W13 by a program of that source; it is told what lacks where it cannot be made.
compiled() {
    peer=$1 compiler=$2 source=$3
    shift 3
    wants W13 || return 0
    # shellcheck disable=SC2086
    if ! "$compiler" $flags "$here/$source" "$made/patterns.so" -Wl,-rpath,"$made" -o "$made/$peer" "$@" 2> "$made/why"; then
        echo "$peer is skipped: $source does not compile here: $(grep -m 1 error "$made/why")" >&2
        return 0
    fi
    for n in $threads; do OMP_NUM_THREADS=$n "$made/$peer" "$here/../../examples/data" "$n"; done
}

[ $# -gt 0 ] || set -- numpy torch numexpr pykeops numba bottleneck scipy graphblas eigen
for peer; do
    case $peer in
    graphblas) compiled graphblas "${CC:-cc}" peer_graphblas.c -lgraphblas -lm; continue ;;
    eigen) compiled eigen "${CXX:-c++}" peer_eigen.cpp -I"${EIGEN:-/usr/include/eigen3}" -lm; continue ;;
    esac
    if ! [ -f "$here/peer_$peer.py" ]; then
        echo "run.sh: no peer $peer" >&2
        exit 2
    fi
    if ! "$python" -c "import $peer" > /dev/null 2>&1; then
        echo "$peer is skipped: $python has no module of that name" >&2
        continue
    fi
    for n in $threads; do
        # shellcheck disable=SC2086  # several rows are several words
        PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=$n OPENBLAS_NUM_THREADS=$n NUMEXPR_NUM_THREADS=$n \
            "$python" "$here/peer_$peer.py" "$n" $rows
    done
done
