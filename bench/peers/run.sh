#!/bin/sh
# run.sh [--threads 1,2] [--rows W1,W3] [PEER...]: runs the cases of rdim-bench in other libraries, those that are
# installed, and prints lines of JSON as rdim-bench does, with a key "peer".  Peers: numpy torch numexpr pykeops
# numba bottleneck scipy.
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
        sed -n '2,5s/^# //p' "$0" >&2
        exit 2 ;;
    *) break ;;
    esac
done

for peer in "${@:-numpy torch numexpr pykeops numba bottleneck scipy}"; do echo "$peer"; done | tr ' ' '\n' | while read -r peer; do
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
