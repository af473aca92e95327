/* expr_pieces.c - splits an expression along one axis into views that are evaluated one after the
 * other.
 *
 * Axes before the split one have one index in a piece, axes behind it are whole.  `along` pieces
 * lie along the split axis, for each index of the axes before it. */
#include "eval/expr_pieces.h"
#include "expr/origin.h"

/* The number of elements of the axes from `axis` on. */
static int64_t points_from(const rd_expr *x, int axis)
{
    return rd_points(x->rank - axis, x->extent + axis);
}

/* Splits x into pieces of at most `most` elements. The split axis is the first with no more than
 * that behind it; a piece has p.each of its indices, and one index of each axis before it.
 * inner: elements of one index of that axis; along: pieces along it; n: all pieces. With no
 * elements behind it (inner 0) there are no pieces. */
rd_expr_pieces rd_pieces_of(const rd_expr *x, int64_t most)
{
    rd_expr_pieces p = { .extent = 1, .each = 1, .along = 1, .inner = 1, .n = 1 };

    if (x->rank == 0)
        return p;
    while (p.axis < x->rank - 1 && points_from(x, p.axis + 1) > most)
        p.axis++;
    p.extent = x->extent[p.axis];
    p.inner  = points_from(x, p.axis + 1);
    p.each   = p.inner && most / p.inner < p.extent ? most / p.inner : p.extent;
    p.each   = p.each ? p.each : 1;
    p.along  = p.extent / p.each + (p.extent % p.each != 0);
    p.n      = p.inner ? rd_points(p.axis, x->extent) * p.along : 0;
    return p;
}

/* The index of the split axis at which piece k begins. */
static int64_t first_of(const rd_expr_pieces *p, int64_t k)
{
    return k % p->along * p->each;
}

/* The number of elements of piece k; the last one along the axis may be shorter. */
int64_t rd_piece_points(const rd_expr_pieces *p, int64_t k)
{
    const int64_t left = p->extent - first_of(p, k);

    return (left < p->each ? left : p->each) * p->inner;
}

/* The flat C-order index in x of the first element of piece k. */
int64_t rd_piece_begin(const rd_expr_pieces *p, int64_t k)
{
    return (k / p->along * p->extent + first_of(p, k)) * p->inner;
}

/* Makes the view of piece k of x: one index of each axis before the split axis, then a range of
 * that. NULL on failure. k / along is the flat index of the axes before the split one, in C
 * order. One piece (n 1) is x itself; NULL gives NULL. */
rd_expr *rd_piece_view(const rd_expr_pieces *p, rd_expr *x, int64_t k)
{
    const int64_t first = first_of(p, k);
    int64_t       row   = k / p->along;
    int64_t       index[RD_MAX_RANK];

    if (p->n == 1 || !x)
        return x;
    for (int a = p->axis - 1; a >= 0; row /= x->extent[a--])
        index[a] = row % x->extent[a];
    for (int a = 0; a < p->axis; a++)
        x = rd_select_place(x, /*axis=*/0, index[a]); /* which removes that axis */
    return rd_slice_places(x, /*axis=*/0, first, first + p->each, /*step=*/1);
}

/* True if each element of x costs little by itself: it needs no reduction, scan, sort or other
 * whole array. *left: visits that remain, as a graph may have exponentially many paths. */
static bool is_cheap_each(const rd_expr *x, int *left)
{
    if (--*left < 0)
        return false;
    switch (x->kind) {
    case RD_EXPR_LEAF:
    case RD_EXPR_NUMBER:
    case RD_EXPR_COORD: return true;
    case RD_EXPR_TAKE:
        if (x->in[0]->kind != RD_EXPR_LEAF)
            return false;
        break;
    case RD_EXPR_VIEW:
    case RD_EXPR_MAP:
    case RD_EXPR_CALL:
    case RD_EXPR_COMPLEX: break;
    default: return false;
    }
    for (int k = 0; k < x->n_in; k++)
        if (!is_cheap_each(x->in[k], left))
            return false;
    return true;
}

/* True if evaluating all pieces costs no more than evaluating x as a whole. */
bool rd_pieces_are_cheap(const rd_expr *x)
{
    int left = 256;

    return is_cheap_each(x, &left);
}
