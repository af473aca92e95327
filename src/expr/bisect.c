/* bisect.c - bisection of sorted rows for all elements at once.  See bisect.h. */
#include "expr/bisect.h"

/* Gathers sorted[at + k], an element of the sorted row, for each element searched. */
static rd_expr *gather_at(const rd_bisection *b, rd_expr *at, int64_t k)
{
    rd_expr *const index =
        b->map(RD_OP_add, b->call, 2, (rd_expr *const[]){ at, rd_int(b->sorted->ctx, k) });

    return b->take(b->sorted, b->sorted->rank - 1, index);
}

/* True where sorted[at + k] is before x: less, or not greater, as the operator b->before says. */
static rd_expr *is_before(const rd_bisection *b, rd_expr *at, int64_t k, rd_expr *x)
{
    return b->map(b->before, b->call, 2, (rd_expr *const[]){ gather_at(b, at, k), x });
}

/* Bisects the sorted row for all elements of x at once.  *at is where the range of `left` elements
 * begins; each step halves it, skipping the first half if its last element is before x.  The number
 * of steps depends on the extent alone, and each step is a `where`, not a branch.  Returns whether
 * the last element left is before x. */
rd_expr *rd_bisect(const rd_bisection *b, rd_expr **at, rd_expr *x)
{
    for (int64_t left = b->sorted->extent[b->sorted->rank - 1]; left > 1 && *at; left -= left / 2) {
        const int64_t  half = left / 2;
        rd_expr *const pass = is_before(b, *at, half - 1, x);
        rd_expr *const behind =
            b->map(RD_OP_add, b->call, 2, (rd_expr *const[]){ *at, rd_int(x->ctx, half) });

        *at = b->map(RD_OP_where, b->call, 3, (rd_expr *const[]){ pass, behind, *at });
    }
    return *at ? is_before(b, *at, 0, x) : NULL;
}
