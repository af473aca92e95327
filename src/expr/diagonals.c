/* diagonals.c - the diagonal of an expression of pairs (each point with itself), as an
 * expression of points.
 *
 *     x[:, None] * y[None, :]  ->  x * y
 *
 * rd_diagonal() would be a view of all pairs, which would be stored if both a diagonal and
 * another size are asked for.  Here the nodes are made again without pairs, down to the views
 * that make pairs of rows of points.  Axes a and b of an expression hold the two points of a pair;
 * the diagonal has a = b, and its axis comes last. */
#include "expr/affine.h"
#include "expr/origin.h"
#include "expr/plain.h"
#include "expr/symmetric.h"

/* Writes the shape of the diagonal of axes a and b of x: the extents of all other axes, in order,
 * then that of a.  Returns its rank. */
static int diagonal_extents(const rd_expr *x, int a, int b, int64_t *extent)
{
    int rank = 0;

    for (int k = 0; k < x->rank; k++)
        if (k != a && k != b)
            extent[rank++] = x->extent[k];
    extent[rank++] = x->extent[a];
    return rank;
}

/* Makes the node x again for the diagonal of its axes a and b (their elements with equal indices),
 * on other operands and with other facts. */
static rd_expr *remake_node(const rd_expr *x, int a, int b, rd_expr *const *in, const void *facts)
{
    int64_t   extent[RD_MAX_RANK];
    const int rank = diagonal_extents(x, a, b, extent);

    return rd_node(&(rd_expr){ .ctx    = x->ctx,
                               .kind   = x->kind,
                               .type   = x->type,
                               .op     = x->op,
                               .rank   = rank,
                               .n_in   = x->n_in,
                               .extent = extent,
                               .in     = in },
                   facts, x->as_size);
}

/* Makes the diagonal of axes a and b of a map: the map of the diagonals of its operands, so that no
 * pairs remain. */
static rd_expr *diagonal_of_map(const rd_expr *x, int a, int b)
{
    rd_expr *in[RD_MOST_ARITY];

    for (int k = 0; k < x->n_in; k++)
        if (!(in[k] = rd_of_selves(x->in[k], a, b)))
            return NULL;
    return remake_node(x, a, b, in, x->as.any);
}

/* Makes the diagonal of axes a and b of a reduction: that of its operands' axes p and q.  These
 * leave the bits of reduced axes; the others keep their order, and the diagonal comes last. */
static rd_expr *diagonal_of_reduction(const rd_expr *x, int a, int b)
{
    const int     p = rd_axis_before(x, a), q = rd_axis_before(x, b);
    rd_fold_facts facts = *x->as.fold;
    rd_expr      *in[4] = { NULL };

    facts.dims = 0;
    for (int k = 0, left = 0; k < x->in[0]->rank; k++)
        if (k != p && k != q)
            facts.dims |= (x->as.fold->dims >> k & 1) << left++;
    for (int k = 0; k < x->n_in; k++)
        if (x->in[k] && !(in[k] = rd_of_selves(x->in[k], p, q)))
            return NULL;
    return remake_node(x, a, b, in, &facts);
}

/* Makes the diagonal of axes a and b of a view.  They are axes p and q of its operand, unchanged.
 * So the view of the operand's diagonal lacks both, and has one last axis instead. */
static rd_expr *diagonal_of_view(const rd_expr *x, int a, int b, int p, int q)
{
    const rd_expr *operand = x->in[0];
    const int64_t *from = x->as.view->number, *coef = from + operand->rank;
    int64_t        number[RD_VIEW_NUMBERS] = { 0 }, extent[RD_MAX_RANK];
    const int      rank = diagonal_extents(x, a, b, extent), below = operand->rank - 1;

    for (int s = 0, to = 0; s < operand->rank; s++) {
        if (s == p || s == q)
            continue;
        number[to] = from[s];
        for (int k = 0, at = 0; k < x->rank; k++)
            if (k != a && k != b)
                number[below + to * rank + at++] = coef[s * x->rank + k];
        to++;
    }
    number[below + (below - 1) * rank + rank - 1] = 1; /* the diagonal stays the last axis */
    rd_expr *const y                              = rd_of_selves(x->in[0], p, q);

    return y ? rd_view(y, rank, extent, number, /*origin=*/NULL) : NULL;
}

/* The elements of x with equal indices along axes a and b (of pairs: each point with itself), along
 * a new last axis.  Maps, reductions and their views are made again on the diagonal, so that pairs
 * are not computed; any other node gets a view. */
rd_expr *rd_of_selves(rd_expr *x, int a, int b)
{
    if (x->kind == RD_EXPR_MAP)
        return diagonal_of_map(x, a, b);
    if (x->kind == RD_EXPR_REDUCE)
        return diagonal_of_reduction(x, a, b);
    if (x->kind == RD_EXPR_VIEW &&
        (x->in[0]->kind == RD_EXPR_MAP || x->in[0]->kind == RD_EXPR_REDUCE)) {
        const int p = rd_axis_below(x, a), q = rd_axis_below(x, b);

        if (p >= 0 && q >= 0)
            return diagonal_of_view(x, a, b, p, q);
    }
    return rd_diagonal(x, a, b, /*offset=*/0);
}
