#!/bin/sh
# with-cuda.sh PROGRAM: a suite with RDIM_BACKEND=cuda on the fake GPU.  Where CUDA is not found AUTO takes the CPU without
# a word, so a suite of whose processes none has launched a kernel has failed.  A part of script/test all.
set -eu
case "${RDIM_TESTS-}" in
    all | every) ;;
    *) echo "a part of script/test all"; exit 77 ;;
esac
launches=$(mktemp)
trap 'rm -f "$launches"' EXIT
RDIM_BACKEND=cuda RDIM_FAKE_LAUNCHES=$launches "$1"
if [ ! -s "$launches" ]; then
    echo "no kernel was launched"
    exit 1
fi
awk '{ n += $1 } END { print n, "kernels were launched" }' "$launches"
