/* bisect.c - see the header. */
#include "expr/bisect.h"

/* sorted[at + k], of the row of each element. */
static rd_expr *element(const rd_bisection *b, rd_expr *at, int64_t k)
{
    rd_expr *const index =
        b->map(RD_OP_add, b->call, 2, (rd_expr *const[]){ at, rd_int(b->sorted->ctx, k) });

    return b->take(b->sorted, b->sorted->rank - 1, index);
}

static rd_expr *passes(const rd_bisection *b, rd_expr *at, int64_t k, rd_expr *x)
{
    return b->map(b->before, b->call, 2, (rd_expr *const[]){ element(b, at, k), x });
}

/* Of `left` elements from `at` on half are passed by, if the last of these goes before x: the
 * number of steps is the row's alone, and each is a choice, no branch. */
rd_expr *rd_bisect(const rd_bisection *b, rd_expr **at, rd_expr *x)
{
    for (int64_t left = b->sorted->extent[b->sorted->rank - 1]; left > 1 && *at; left -= left / 2) {
        const int64_t  half = left / 2;
        rd_expr *const pass = passes(b, *at, half - 1, x);
        rd_expr *const behind =
            b->map(RD_OP_add, b->call, 2, (rd_expr *const[]){ *at, rd_int(x->ctx, half) });

        *at = b->map(RD_OP_where, b->call, 3, (rd_expr *const[]){ pass, behind, *at });
    }
    return *at ? passes(b, *at, 0, x) : NULL;
}
