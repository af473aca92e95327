/* box_part.c - a box of an expression, as an expression of boxes of its leaves.
 *
 *     (x * y)[3:5]  ->  x[3:5] * y[3:5]
 *
 * A view of the whole says the same, but its plan has the offset in it.  The key of plans compares
 * leaves by where their first reader begins (key.c), so that boxes of one shape share a plan.
 *
 * Maps, views, plain reductions and gathers are made anew of smaller operands.  Anything else is
 * viewed. */
#include "eval/cache/attention.h"
#include "eval/cache/part_nodes.h"
#include "expr/affine.h"
#include <string.h>

/* Visits of one box, as a graph may have very many paths.  Behind these, nodes are viewed. */
enum { VISITS = 300 };

/* A box on its way: visits left, and the node whose box is made by another function. */
typedef struct boxing {
    int                left;
    const rd_box_swap *swap;
} boxing;

static rd_expr *part(rd_expr *x, const int64_t *first, const int64_t *end, boxing *b);

/* True if the box is all of x. */
static bool is_whole(const rd_expr *x, const int64_t *first, const int64_t *end)
{
    for (int a = 0; a < x->rank; a++)
        if (first[a] != 0 || end[a] != x->extent[a])
            return false;
    return true;
}

/* Sets the extents of a box. */
static void measure(const rd_expr *x, const int64_t *first, const int64_t *end, int64_t *extent)
{
    for (int a = 0; a < x->rank; a++)
        extent[a] = end[a] - first[a];
}

/* The box as a slice (view) of the whole x. */
static rd_expr *viewed(rd_expr *x, const int64_t *first, const int64_t *end)
{
    int64_t extent[RD_MAX_RANK];

    measure(x, first, end, extent);
    return rd_part_viewed(x, first, extent);
}

/* Makes a node of the same operation as x, with the box's extents and these operands. */
static rd_expr *made_again(const rd_expr *x, const int64_t *first, const int64_t *end,
                           rd_expr *const *in)
{
    int64_t extent[RD_MAX_RANK];

    measure(x, first, end, extent);
    return rd_part_again(x, extent, in);
}

/* The box of an elementwise operation: the operation on the same box of each operand. */
static rd_expr *map_part(rd_expr *x, const int64_t *first, const int64_t *end, boxing *b)
{
    rd_expr *in[RD_MAX_RANK];

    if (x->n_in > RD_MAX_RANK)
        return viewed(x, first, end);
    for (int k = 0; k < x->n_in; k++)
        if (!(in[k] = part(x->in[k], first, end, b)))
            return NULL;
    return made_again(x, first, end, in);
}

/* The box of a view: a view of that box of its operand which it reads. The operand's box is found
 * by interval arithmetic. A leaf is not cut; there the view's offset moves instead. A view's
 * numbers are the offsets, one for each axis of its operand, then a matrix of coefficients with
 * a row for each of these axes and a column for each axis of the view. lo and hi are the box
 * that it reads of its operand, hi excluded. */
static rd_expr *view_part(rd_expr *x, const int64_t *first, const int64_t *end, boxing *b)
{
    rd_expr *const       below = x->in[0];
    const int64_t *const n     = x->as.view->number;
    int64_t              number[RD_VIEW_NUMBERS], extent[RD_MAX_RANK];
    int64_t              lo[RD_MAX_RANK] = { 0 }, hi[RD_MAX_RANK] = { 0 };
    const bool           leaf = below->kind == RD_EXPR_LEAF;
    rd_expr             *in;

    memcpy(number, n, (size_t)(below->rank * (x->rank + 1)) * sizeof *number);
    measure(x, first, end, extent);
    for (int a = 0; a < below->rank; a++) {
        lo[a] = hi[a] = n[a];
        for (int k = 0; k < x->rank; k++) {
            const int64_t c = n[below->rank + a * x->rank + k];

            number[a] += c * first[k];
            lo[a] += c * (c > 0 ? first[k] : end[k] - 1);
            hi[a] += c * (c > 0 ? end[k] - 1 : first[k]);
        }
        hi[a]++;
        number[a] -= leaf ? 0 : lo[a]; /* relative to the operand's box */
    }
    in = leaf ? below : part(below, lo, hi, b);
    return in ? rd_view(in, x->rank, extent, number, /*origin=*/NULL) : NULL;
}

/* The box of a reduction: the reduction of all elements along its reduced axes, in a box along
 * kept ones. Grouped reductions and reducers of several outputs are sliced instead. dims has a
 * bit for each reduced axis; in[1] and in[2] are weights and mask, NULL: none. */
static rd_expr *reduced_part(rd_expr *x, const int64_t *first, const int64_t *end, boxing *b)
{
    const rd_expr *const of              = x->in[0];
    int64_t              lo[RD_MAX_RANK] = { 0 }, hi[RD_MAX_RANK] = { 0 };
    rd_expr             *in[3] = { NULL };

    if (rd_is_grouped(x) || rd_outputs_of(x) > 1)
        return viewed(x, first, end);
    for (int a = 0, k = 0; a < of->rank; a++) {
        const bool reduced = x->as.fold->dims >> a & 1; /* else axis a is axis k of x */

        lo[a] = reduced ? 0 : first[k];
        hi[a] = reduced ? of->extent[a] : end[k];
        k += !reduced;
    }
    for (int k = 0; k < x->n_in; k++)
        if (x->in[k] && !(in[k] = part(x->in[k], lo, hi, b)))
            return NULL;
    return made_again(x, first, end, in);
}

/* The box of a gather (rd_take): the whole of the gathered axis, indexed by the box of the
 * indices. `along` means one index per element; such a gather is sliced instead. lo and hi bound
 * the box of `of`; made_again() makes the gather of both parts. NULL after a failure. */
static rd_expr *taken_part(rd_expr *x, const int64_t *first, const int64_t *end, boxing *b)
{
    rd_expr *const of = x->in[0], *const index = x->in[1];
    const int axis            = (int)x->as.axis->axis;
    int64_t   lo[RD_MAX_RANK] = { 0 }, hi[RD_MAX_RANK] = { 0 };
    rd_expr  *in[2];

    if (x->as.axis->along)
        return viewed(x, first, end);
    for (int a = 0; a < of->rank; a++) {
        const int k = a < axis ? a : a + index->rank - 1; /* the axis of x that is axis a of `of` */

        lo[a] = a == axis ? 0 : first[k];
        hi[a] = a == axis ? of->extent[a] : end[k];
    }
    in[0] = part(of, lo, hi, b);
    in[1] = part(index, first + axis, end + axis, b);
    return in[0] && in[1] ? made_again(x, first, end, in) : NULL;
}

/* The box of x as an expression of boxes of its operands, down to leaves. Not the identity even
 * for the whole x if a node is to be swapped. b->swap is a node to be replaced and the function
 * `make` for that, NULL: none. b->left: visits that remain; without any the box is a view of x.
 * NULL after a failure. */
static rd_expr *part(rd_expr *x, const int64_t *first, const int64_t *end, boxing *b)
{
    if (b->swap && x == b->swap->node)
        return b->swap->make(b->swap->user, x, first, end);
    if (is_whole(x, first, end) && !b->swap)
        return x;
    if (--b->left < 0)
        return viewed(x, first, end);
    switch (x->kind) {
    case RD_EXPR_MAP: return map_part(x, first, end, b);
    case RD_EXPR_VIEW: return view_part(x, first, end, b);
    case RD_EXPR_REDUCE: return reduced_part(x, first, end, b);
    case RD_EXPR_TAKE: return taken_part(x, first, end, b);
    default: return viewed(x, first, end);
    }
}

/* Elements first[a] <= i[a] < end[a] of x as an expression of boxes of its leaves, so that boxes
 * of one shape share a plan. swap: a node whose box another function makes; NULL: none. NULL after
 * a failure, or if x is NULL. */
rd_expr *rd_box_part(rd_expr *x, const int64_t *first, const int64_t *end, const rd_box_swap *swap)
{
    boxing b = { VISITS, swap };

    return x ? part(x, first, end, &b) : NULL;
}
