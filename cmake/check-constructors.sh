#!/bin/sh
# Each public function that makes expressions stands in a row of tests/constructors.def, or is an operator
# of ops.def, all of which tests/test_allocation_faults.c takes.
set -eu
missing=
# A macro's function has its name and one of these endings; others are what a row's call comes to.
# shellcheck disable=SC2013  # names have no blanks
for name in $(sed -n 's/^RD_API rd_expr \*\(rd_[a-z0-9_]*\)(.*/\1/p' include/rdim/*.h | sort -u); do
    short=$(echo "$name" | sed 's/_\(of\|by\|fn\|text\|name\|user\|f32\|f64\)$//')
    op=${name#rd_}
    grep -q "\<$name\>\|\<$short\>" tests/constructors.def || grep -q "($op *," src/core/ops.def ||
        case $name in
            rd_adopt | rd_adopt_sparse | rd_load | rd_load_npy | rd_from_dlpack | rd_from_dlpack_versioned) ;; # memory, files of others
            rd_reduce2_user | rd_scan_user) ;; # rd_reduce2() and rd_scan() of a reducer
            rd_rolling_name) ;; # rd_rolling_sum() and its like
            rd_meshgrid | rd_split) ;;
            rd_sparse) ;;
            rd_elements_of) ;; # finds one that is there
            rd_nystroem) ;;    # it evaluates, and wants LAPACK: test_solve.c has its faults
            *) missing="$missing $name" ;;
        esac
done
[ -z "$missing" ] || { echo "no row of tests/constructors.def:$missing"; exit 1; }
