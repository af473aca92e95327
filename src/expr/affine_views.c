/* affine_views.c - the views behind rd_select(), rd_slice_axis(), rd_permute(), rd_expand(),
 * rd_squeeze() and rd_broadcast(), as offsets and coefficients.
 *
 * Words. The origin of an axis is its first index, 0 unless the caller says another. */
#include "expr/affine.h"
#include "expr/origin.h"
#include <string.h>

/* Builds the view x[.., i, ..] of rd_select(): one axis is fixed at i, all others stay.  The
 * callback `select` says whether i is a position or an index.  NULL after recording a failure. */
const rd_affine *rd_affine_selected(rd_affine *v, const rd_expr *x, int axis, int64_t i,
                                    bool select(rd_affine *, const rd_expr *, int, int64_t))
{
    char text[RD_SHAPE_TEXT], range[RD_RANGE_TEXT];
    int  found;

    if (!x || (found = rd_axis(x, axis, "rd_select")) < 0)
        return NULL;
    rd_affine_begin(v, x);
    for (int a = 0; a < x->rank; a++)
        if (a != found)
            rd_affine_whole(v, x, a);
    if (select(v, x, found, i))
        return v;
    rd_fail(x->ctx, RD_ERR_AXIS,
            "rd_select: index %lld is outside axis %d of extent %lld%s, shape %s", (long long)i,
            axis, (long long)x->extent[found], rd_range_text(x, found, range),
            rd_shape_text(x->rank, x->extent, text));
    return NULL;
}

/* Builds the view x[.., start:stop:step, ..] of rd_slice_axis().  The callback `range` says whether
 * the bounds are positions or indices.  NULL after recording a failure. */
const rd_affine *rd_affine_sliced(rd_affine *v, const rd_expr *x, int axis, int64_t start,
                                  int64_t stop, int64_t step,
                                  void range(rd_affine *, const rd_expr *, int, int64_t, int64_t,
                                             int64_t))
{
    int found;

    if (!x || (found = rd_axis(x, axis, "rd_slice_axis")) < 0)
        return NULL;
    rd_affine_begin(v, x);
    if (step == 0) {
        rd_fail(x->ctx, RD_ERR_ARGUMENT, "rd_slice_axis: step 0 along axis %d never arrives", axis);
        return NULL;
    }
    for (int a = 0; a < x->rank; a++) {
        if (a == found)
            range(v, x, a, start, stop, step);
        else
            rd_affine_whole(v, x, a);
    }
    return v;
}

/* Returns axis `order.at[k]` of x as a number from 0. -1 after recording that x has no such axis,
 * or that an earlier entry named it (`seen` is the set of those). */
static int axis_in_order(const rd_expr *x, const rd_index *order, int k, uint64_t seen)
{
    const int64_t a = order->at[k] < 0 ? order->at[k] + x->rank : order->at[k];
    char          text[RD_SHAPE_TEXT];

    if (a < 0 || a >= x->rank)
        rd_fail(x->ctx, RD_ERR_AXIS, "rd_permute: no axis %lld in an operand of rank %d, shape %s",
                (long long)order->at[k], x->rank, rd_shape_text(x->rank, x->extent, text));
    else if (seen >> a & 1)
        rd_fail(x->ctx, RD_ERR_AXIS, "rd_permute: axis %lld is named twice, shape %s",
                (long long)order->at[k], rd_shape_text(x->rank, x->extent, text));
    else
        return (int)a;
    return -1;
}

/* Builds the view with the axes of x in another order.  NULL after recording that an axis is
 * missing or named twice. */
const rd_affine *rd_affine_permuted(rd_affine *v, const rd_expr *x, rd_index order)
{
    uint64_t seen = 0;
    char     text[RD_SHAPE_TEXT];

    if (!x)
        return NULL;
    rd_affine_begin(v, x);
    if (order.n != x->rank) {
        rd_fail(x->ctx, RD_ERR_AXIS, "rd_permute: %d axes given for rank %d, shape %s",
                (int)order.n, x->rank, rd_shape_text(x->rank, x->extent, text));
        return NULL;
    }
    for (int k = 0; k < x->rank; k++) {
        const int a = axis_in_order(x, &order, k, seen);

        if (a < 0)
            return NULL;
        seen |= (uint64_t)1 << a;
        rd_affine_whole(v, x, a);
    }
    return v;
}

/* Builds the view with one more axis, of one element, that no axis of x steps along.  `axis` is its
 * position in the result, from the end if negative.  NULL after recording a failure. */
const rd_affine *rd_affine_expanded(rd_affine *v, const rd_expr *x, int axis)
{
    char text[RD_SHAPE_TEXT];

    if (!x)
        return NULL;
    rd_affine_begin(v, x);
    if (axis < -x->rank - 1 || axis > x->rank) {
        rd_fail(x->ctx, RD_ERR_AXIS, "rd_expand: no place %d for a new axis in rank %d, shape %s",
                axis, x->rank, rd_shape_text(x->rank, x->extent, text));
        return NULL;
    }
    const int place = axis < 0 ? axis + x->rank + 1 : axis;
    for (int a = 0; a <= x->rank; a++) {
        if (a == place)
            rd_affine_axis(v, /*extent=*/1, /*a=*/-1, /*coef=*/0);
        if (a < x->rank)
            rd_affine_whole(v, x, a);
    }
    return v;
}

/* Builds the view without the axes d.  NULL after recording that one has more or less than one
 * element. */
const rd_affine *rd_affine_squeezed(rd_affine *v, const rd_expr *x, rd_dims d)
{
    uint64_t bits;
    char     text[RD_SHAPE_TEXT];

    if (!x || !rd_dims_bits(x, &d, "rd_squeeze", &bits))
        return NULL;
    rd_affine_begin(v, x);
    for (int a = 0; a < x->rank; a++) {
        if (!(bits >> a & 1)) {
            rd_affine_whole(v, x, a);
        } else if (x->extent[a] != 1) {
            rd_fail(x->ctx, RD_ERR_SHAPE, "rd_squeeze: axis %d has extent %lld, not 1, shape %s", a,
                    (long long)x->extent[a], rd_shape_text(x->rank, x->extent, text));
            return NULL;
        }
    }
    return v;
}

/* Writes offsets, coefficients and origins (first indices) of the view that broadcasts x to a
 * shape.  The axes of x are the last ones of the result.  False after recording that an extent is
 * neither 1 nor the result's. */
bool rd_broadcast_numbers(const rd_expr *x, int rank, const int64_t *extent, const char *call,
                          int64_t number[RD_VIEW_NUMBERS], int64_t origin[RD_MAX_RANK])
{
    const int lead = rank - x->rank; /* axes that x lacks */
    char      from[RD_SHAPE_TEXT], to[RD_SHAPE_TEXT];

    memset(number, 0, (size_t)(x->rank * (rank + 1)) * sizeof *number);
    memset(origin, 0, (size_t)rank * sizeof *origin);
    for (int a = 0; a < x->rank; a++) {
        if (lead < 0 || (x->extent[a] != 1 && x->extent[a] != extent[lead + a])) {
            rd_fail(x->ctx, RD_ERR_SHAPE, "%s: shape %s does not broadcast to %s", call,
                    rd_shape_text(x->rank, x->extent, from), rd_shape_text(rank, extent, to));
            return false;
        }
        /* An axis of one element that the result has, too, keeps coefficient 1 and its origin; a
         * repeated axis gets coefficient 0. */
        const bool stays = x->extent[a] == extent[lead + a];

        number[x->rank + a * rank + lead + a] = stays;
        origin[lead + a]                      = stays ? rd_origin(x, a) : 0;
    }
    return true;
}

/* Builds a view of all elements of x whose axes begin at other indices (origins; NULL: all 0).
 * False if both are 0, as x serves then. */
bool rd_affine_from(rd_affine *v, const rd_expr *x, const int64_t *origin)
{
    origin = rd_somewhere(x->rank, origin);
    if (!x->origin && !origin)
        return false;
    rd_affine_begin(v, x);
    for (int a = 0; a < x->rank; a++) {
        rd_affine_whole(v, x, a);
        v->origin[a] = origin ? origin[a] : 0;
    }
    return true;
}

/* ---- Views that change nothing --------------------------------------------------------------- */
/* True if x has this rank and these extents. */
bool rd_has_shape(const rd_expr *x, int rank, const int64_t *extent)
{
    return rank == x->rank && (!rank || !memcmp(x->extent, extent, (size_t)rank * sizeof *extent));
}

/* True if the axes of x begin at these indices (origins; NULL: all 0). */
bool rd_begins_at(const rd_expr *x, const int64_t *origin)
{
    for (int a = 0; a < x->rank; a++)
        if (rd_origin(x, a) != (origin ? origin[a] : 0))
            return false;
    return true;
}

/* True if the view is the identity: the shape is x's, all offsets are 0, and axis k of x steps by 1
 * along axis k alone.  Coefficients of axes of one element are not compared, as any of them reads
 * the same element. */
bool rd_is_whole_view(const rd_expr *x, int rank, const int64_t *extent, const int64_t *number)
{
    if (!rd_has_shape(x, rank, extent))
        return false;
    if (rd_points(rank, extent) == 0)
        return true;
    for (int a = 0; a < rank; a++) {
        if (extent[a] == 1)
            continue;
        if (number[a] != 0)
            return false;
        for (int k = 0; k < rank; k++)
            if (extent[k] > 1 && number[rank + a * rank + k] != (a == k))
                return false;
    }
    return true;
}
