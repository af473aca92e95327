/* view.c - affine views: select, slice, permute, broadcast, window and others.  An index of the
 * view is an offset plus coefficients times its indices. */
#include "expr/affine.h"
#include "expr/origin.h"

/* Fixes an axis at one of its indices; the result lacks the axis. */
rd_expr *rd_select(rd_expr *x, int axis, int64_t i)
{
    rd_affine v;

    return rd_affine_view(x, rd_affine_selected(&v, x, axis, i, rd_affine_select), "rd_select");
}

/* Fixes an axis at a position, counted from 0, or from the end if negative. */
rd_expr *rd_select_place(rd_expr *x, int axis, int64_t place)
{
    rd_affine v;

    return rd_affine_view(x, rd_affine_selected(&v, x, axis, place, rd_affine_place), "rd_select");
}

/* A range of an axis by its own indices: start, start + step, ... before stop. */
rd_expr *rd_slice_axis(rd_expr *x, int axis, int64_t start, int64_t stop, int64_t step)
{
    rd_affine v;

    return rd_affine_view(x, rd_affine_sliced(&v, x, axis, start, stop, step, rd_affine_range),
                          "rd_slice_axis");
}

/* A range of an axis by positions from 0: start, start + step, ... before stop. */
rd_expr *rd_slice_places(rd_expr *x, int axis, int64_t start, int64_t stop, int64_t step)
{
    rd_affine v;

    return rd_affine_view(x, rd_affine_sliced(&v, x, axis, start, stop, step, rd_affine_places),
                          "rd_slice_axis");
}

/* Puts the axes of x in another order: axis k of the result is axis order.at[k] of x, as in NumPy's
 * transpose. */
rd_expr *rd_permute(rd_expr *x, rd_index order)
{
    rd_affine v;

    return rd_affine_view(x, rd_affine_permuted(&v, x, order), "rd_permute");
}

/* Exchanges the last two axes; an x with fewer stays as it is. */
rd_expr *rd_transpose(rd_expr *x)
{
    rd_affine v = { 0 };

    if (!x || x->rank < 2)
        return x;
    for (int a = 0; a < x->rank - 2; a++)
        rd_affine_whole(&v, x, a);
    rd_affine_whole(&v, x, x->rank - 1);
    rd_affine_whole(&v, x, x->rank - 2);
    return rd_affine_view(x, &v, "rd_transpose");
}

/* Repeats x along axes to a shape, by NumPy's rules: the public call. */
rd_expr *rd_broadcast(rd_expr *x, rd_shape shape)
{
    char text[RD_SHAPE_TEXT];

    if (!rd_operands("rd_broadcast", 1, &x))
        return NULL;
    if (shape.n < 0 || shape.n > RD_MAX_RANK)
        return rd_fail(x->ctx, RD_ERR_SHAPE,
                       "rd_broadcast: the shape has rank %d, possible are 0 to %d", (int)shape.n,
                       RD_MAX_RANK);
    if (rd_points(shape.n, shape.at) < 0)
        return rd_fail(x->ctx, RD_ERR_SHAPE,
                       "rd_broadcast: an extent is negative or the size overflows, shape %s",
                       rd_shape_text(shape.n, shape.at, text));
    return rd_broadcast_to(x, shape.n, shape.at, "rd_broadcast");
}

/* Inserts an axis of one element at a position. */
rd_expr *rd_expand(rd_expr *x, int axis)
{
    rd_affine v;

    return rd_affine_view(x, rd_affine_expanded(&v, x, axis), "rd_expand");
}

/* Removes axes of one element. */
rd_expr *rd_squeeze(rd_expr *x, rd_dims d)
{
    rd_affine v;

    return rd_affine_view(x, rd_affine_squeezed(&v, x, d), "rd_squeeze");
}

/* Reverses the order of elements along axes; the indices that the axes cover stay. */
rd_expr *rd_flip(rd_expr *x, rd_dims d)
{
    rd_affine v = { 0 };
    uint64_t  bits;

    if (!x || !rd_dims_bits(x, &d, "rd_flip", &bits))
        return NULL;
    for (int a = 0; a < x->rank; a++) {
        rd_affine_places(&v, x, a, RD_OPEN, RD_OPEN, bits >> a & 1 ? -1 : 1);
        /* a reversed range begins at 0 otherwise */
        v.origin[a] = rd_origin(x, a);
    }
    return rd_affine_view(x, &v, "rd_flip");
}

/* The diagonal of two axes (rows axis1, columns axis2) as a new last axis; an `offset` above 0
 * moves it to the right, one below 0 down.  Along it both axes of x step by 1.  An offset outside
 * gives no element. */
rd_expr *rd_diagonal(rd_expr *x, int axis1, int axis2, int64_t offset)
{
    rd_affine v = { 0 };
    char      text[RD_SHAPE_TEXT];
    int       row, column;

    if (!x || (row = rd_axis(x, axis1, "rd_diagonal")) < 0 ||
        (column = rd_axis(x, axis2, "rd_diagonal")) < 0)
        return NULL;
    if (row == column)
        return rd_fail(x->ctx, RD_ERR_AXIS, "rd_diagonal: axes %d and %d are the same, shape %s",
                       axis1, axis2, rd_shape_text(x->rank, x->extent, text));
    for (int a = 0; a < x->rank; a++)
        if (a != row && a != column)
            rd_affine_whole(&v, x, a);
    if (offset <= -x->extent[row] || offset >= x->extent[column]) {
        rd_affine_axis(&v, /*extent=*/0, /*a=*/-1, /*coef=*/0);
    } else {
        const int64_t down = offset < 0 ? -offset : 0, right = offset > 0 ? offset : 0;
        const int64_t rows = x->extent[row] - down, columns = x->extent[column] - right;
        v.offset[row]    = down;
        v.offset[column] = right;
        rd_affine_also(&v, row, /*k=*/v.rank, /*coef=*/1); /* the axis added next */
        rd_affine_axis(&v, rows < columns ? rows : columns, column, 1);
    }
    return rd_affine_view(x, &v, "rd_diagonal");
}

/* Makes windows of n elements, `step` apart along the axis: their number replaces the axis, and n
 * is a new last axis.  Element [.. k .., w] is x[.. step * k + w ..]. */
rd_expr *rd_window(rd_expr *x, int axis, int64_t n, int64_t step)
{
    rd_affine v = { 0 };
    int       found;

    if (!x || (found = rd_axis(x, axis, "rd_window")) < 0)
        return NULL;
    if (n < 1 || step < 1)
        return rd_fail(x->ctx, RD_ERR_ARGUMENT,
                       "rd_window: n is %lld and step %lld, both must be at least 1", (long long)n,
                       (long long)step);
    for (int a = 0; a < x->rank; a++) {
        if (a != found)
            rd_affine_whole(&v, x, a);
        else
            rd_affine_axis(&v, n > x->extent[a] ? 0 : (x->extent[a] - n) / step + 1, a, step);
    }
    rd_affine_axis(&v, n, found, 1);
    return rd_affine_view(x, &v, "rd_window");
}

/* Moves axis `from` to position `to`; the others keep their order. */
rd_expr *rd_move_axis(rd_expr *x, int from, int to)
{
    rd_index order = { .n = x ? x->rank : 0 };

    for (int k = 0, a = 0; k < order.n; k++) {
        a += a == from;
        order.at[k] = k == to ? from : a++;
    }
    return x ? rd_permute(x, order) : NULL;
}
