/* part_nodes.c - how a part of a node is made: a view of the whole, or anew of operands' parts.
 *
 *     (x * y)[3:5]  ->  x[3:5] * y[3:5] */
#include "eval/cache/part_nodes.h"
#include "expr/affine.h"

/* Returns the box of x as a view of the whole x, which leaves the offset in plans; NULL after a
 * failure. */
rd_expr *rd_part_viewed(rd_expr *x, const int64_t *first, const int64_t *extent)
{
    rd_affine v;

    rd_affine_begin(&v, x);
    for (int a = 0; a < x->rank; a++)
        rd_affine_places(&v, x, a, first[a], first[a] + extent[a], /*step=*/1);
    return rd_affine_view(x, &v, "rd_eval");
}

/* Returns a node of the same operation as x on parts of its operands. It has no origin of its own,
 * as parts count from 0. NULL after a failure. */
rd_expr *rd_part_again(const rd_expr *x, const int64_t *extent, rd_expr *const *in)
{
    rd_expr node = *x;

    node.extent = extent;
    node.origin = NULL;
    node.in     = in;
    return rd_node(&node, x->as.any, x->as_size);
}
