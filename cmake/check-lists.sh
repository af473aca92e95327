#!/bin/sh
# Each public function with a list among its arguments (by pointer, by value, or in its options) stands in a row
# of tests/lists.def, which test_semantics_lists.c calls with NULL and with counts that no list has.
set -eu
types='rd_exprs|rd_results|rd_names|rd_qs|rd_levels|rd_ints|rd_shape|rd_strides|rd_index|rd_dims'
# Structures with a list in them.
types="$types|rd_array|rd_reduce_opts|rd_quantile_opts|rd_formula_opts|rd_sparse_opts|rd_matrix_opts|rd_sparse_array"
missing=
# Declarations in one line, split at each function's name.
for name in $(sed -n '/^RD_API .*;$/p; /^RD_API [^;]*$/,/;/p' include/rdim/*.h | tr '\n' ' ' | sed 's/rd_[a-z0-9_]* *(/\n&/g' |
    grep -E "^rd_[^(]*\(.*(\<($types)\> (\*?[a-z_]+)[,)]|int(64|32)_t n[a-z_]*, (const )?[a-z0-9_]+ \*)" | sed 's/ *(.*//' | sort -u); do
    # A macro's function has its name and one of these endings.
    short=$(echo "$name" | sed 's/_\(of\|by\|fn\|text\|name\|user\)$//')
    grep -q "\<$name(\|\<$short(" tests/lists.def ||
        case $name in
            rd_array_free | rd_sparse_array_free | rd_array_own) ;; # they read no list
            rd_from_dlpack | rd_from_dlpack_versioned) ;;           # they write the array
            rd_read) ;;                                             # test_npy_files.c: it wants a file
            *) missing="$missing $name" ;;
        esac
done
[ -z "$missing" ] || { echo "no row of tests/lists.def:$missing"; exit 1; }
