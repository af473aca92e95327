#!/bin/sh
# The rules of the public header: a declaration a function, a comment right above each declaration and each public macro,
# and a line for each row of the tables of operators and reductions.
set -eu
bad=0
say() { echo "$1"; bad=1; }

# A row of ops.def or reducers.def is a function or a macro of its name.  fma is made by the evaluator, pow_half by
# rd_pow(), and fmod is for the text of functions.
# shellcheck disable=SC2013  # names have no blanks
for op in $(sed -n 's/^RD_\(OP\|TEST\) *(\([a-z0-9_]*\),.*/\2/p' src/core/ops.def); do
    case $op in fma | pow_half | fmod) continue ;; esac
    grep -q "^RD_API rd_expr \*rd_$op(" include/rdim/*.h || say "ops.def has $op, and no part of the header has rd_$op()"
done
# shellcheck disable=SC2013  # names have no blanks
for name in $(sed -n 's/^RD_REDUCTION(\([a-z0-9_]*\),.*/\1/p' src/core/reducers.def); do
    grep -q "^#define rd_$name(x, \.\.\.) *rd_reduce_name(x, \"$name\"" include/rdim/*.h ||
        say "reducers.def has $name, and no part of the header has rd_$name"
done

for file in include/rdim.h include/rdim.hpp include/rdim/*.h include/rdim/*.hpp; do
    # Behind the end of a comment, and with one function in it.
    awk -v file="$file" '
        /^RD_API/ && !commented { print file ":" FNR ": no comment above: " $0; bad = 1 }
        /^#define (rd_|RD_)[a-zA-Z0-9_]*[a-zA-Z0-9](\(| |$)/ && !commented { print file ":" FNR ": no comment above: " $2; bad = 1 }
        /^(typedef|enum|struct rd_[a-z_]+ [{])/ && !commented { print file ":" FNR ": no comment above: " $0; bad = 1 }
        file ~ /hpp$/ && /^(inline|class|using)/ && !commented { print file ":" FNR ": no comment above: " $0; bad = 1 }
        /^ +\*rd_[a-z0-9_]*\(/ { print file ":" FNR ": a second function in one declaration: " $0; bad = 1 }
        length > 100 { print file ":" FNR ": longer than 100 columns"; bad = 1 }
        FNR == 1 { documents = 0; commented = 0 }
        /\/\*\*/ { documents = 1 }
        { commented = documents && /\*\/$/ }
        /\*\/$/ { documents = 0 }
        END { if (FNR > 250) { print file ": " FNR " lines, 250 are read in ten minutes"; bad = 1 }; exit bad }
    ' "$file" || bad=1
    case $file in
        include/rdim.h | include/rdim.hpp | *_macros.h) ;;
        *) grep -q "^#include \"${file#include/}\"" "include/rdim.${file##*.}" || say "include/rdim.${file##*.} lacks $file" ;;
    esac
done
exit $bad
