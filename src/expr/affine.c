/* affine.c - affine views under construction: offsets and coefficients, added axis by axis.
 * An *affine view* of x has the element x[offset + coefficients * index] at each index.  A *place*
 * is a position along an axis, counted from 0; an *index* counts from the axis's origin.
 *
 *     x[::2] along axis 1 of a matrix  ->  extent (r, (c + 1) / 2), offset (0, 0), steps:
 *                                          axis 0 along 0 by 1, axis 1 along 1 by 2 */
#include "expr/affine.h"
#include "expr/origin.h"
#include <assert.h>
#include <string.h>

/* ---- Built axis by axis ---------------------------------------------------------------------- */
/* Begins a view of x that has no axes yet and reads x at position 0 along each axis.  Extents and
 * steps need no zeros, as they are appended. */
void rd_affine_begin(rd_affine *v, const rd_expr *x)
{
    v->rank = v->n_step = 0;
    memset(v->offset, 0, (size_t)x->rank * sizeof *v->offset);
}

/* Lets axis `a` of the operand step by `coef` along an existing axis k of the result, as a diagonal
 * does for its second axis. */
void rd_affine_also(rd_affine *v, int a, int k, int64_t coef)
{
    assert(v->n_step < 2 * RD_MAX_RANK);
    v->step[v->n_step++] = (rd_affine_step){ .of = a, .along = k, .coef = coef };
}

/* Appends an axis to the result.  Axis `a` of the operand steps by `coef` along it; a < 0: none
 * does, as for a new axis.  Axes beyond RD_MAX_RANK are only counted; rd_affine_numbers() then
 * refuses the view. */
void rd_affine_axis(rd_affine *v, int64_t extent, int a, int64_t coef)
{
    const int k = v->rank++;

    if (k >= RD_MAX_RANK)
        return;
    v->extent[k] = extent;
    v->origin[k] = 0;
    if (a >= 0)
        rd_affine_also(v, a, k, coef);
}

/* Appends axis `a` of x to the result, unchanged and with its origin (first index).  Nothing is
 * stored beyond RD_MAX_RANK axes. */
void rd_affine_whole(rd_affine *v, const rd_expr *x, int a)
{
    rd_affine_axis(v, x->extent[a], a, /*coef=*/1);
    if (v->rank <= RD_MAX_RANK)
        v->origin[v->rank - 1] = rd_origin(x, a);
}

/* Resolves a bound of a range as Python does: a negative one counts from the end, then it is
 * clamped to [low, high].  Below -extent it is `low` at once, as the sum could overflow. */
static int64_t clamp_bound(int64_t bound, int64_t extent, int64_t low, int64_t high)
{
    if (bound < 0)
        bound = bound < -extent ? low : bound + extent;
    return bound < low ? low : bound > high ? high : bound;
}

/* Appends the axis that a slice start:stop:step of axis `a` by positions gives, with Python's rules
 * for bounds.  RD_OPEN stands for a bound left out.  A whole axis keeps its origin (first index),
 * else the origin is 0. */
void rd_affine_places(rd_affine *v, const rd_expr *x, int a, int64_t start, int64_t stop,
                      int64_t step)
{
    const int64_t extent = x->extent[a], low = step > 0 ? 0 : -1,
                  high = step > 0 ? extent : extent - 1;
    int64_t length, n = 0;

    if (start == RD_OPEN && stop == RD_OPEN && step == 1) {
        rd_affine_whole(v, x, a);
        return;
    }
    start  = start == RD_OPEN ? (step > 0 ? low : high) : clamp_bound(start, extent, low, high);
    stop   = stop == RD_OPEN ? (step > 0 ? high : low) : clamp_bound(stop, extent, low, high);
    length = step > 0 ? stop - start : start - stop;
    if (length > 0) /* a step of INT64_MIN has no opposite: divide by the negative one */
        n = step > 0 ? (length - 1) / step + 1 : 1 - (length - 1) / step;
    v->offset[a] = n > 0 ? start : 0;
    rd_affine_axis(v, n, a, n > 1 ? step : n == extent); /* all of an axis of one element or none */
}

/* Fixes axis `a` of x at one position, counted from the end if negative; the result has no such
 * axis.  False: it is outside. */
bool rd_affine_place(rd_affine *v, const rd_expr *x, int a, int64_t place)
{
    const int64_t extent = x->extent[a];

    if (place < -extent || place >= extent)
        return false;
    v->offset[a] = place < 0 ? place + extent : place;
    return true;
}

/* ---- By indices of an axis ------------------------------------------------------------------- */
/* Converts a bound of a range from an index of the axis to a position.  Only an axis whose first
 * index (origin) is 0 counts negative bounds from the end.  With another origin, an index below the
 * axis becomes a position so far below 0 that it stays before the axis. */
static int64_t position_of_bound(const rd_expr *x, int a, int64_t bound)
{
    int64_t place;

    if (bound == RD_OPEN || !rd_origin(x, a))
        return bound;
    if (__builtin_sub_overflow(bound, rd_origin(x, a), &place))
        return bound < 0 ? INT64_MIN + 1 : INT64_MAX;
    return place < 0 ? INT64_MIN + 1 : place;
}

/* Appends the slice of rd_affine_places(), with bounds that are indices of the axis, not
 * positions. */
void rd_affine_range(rd_affine *v, const rd_expr *x, int a, int64_t start, int64_t stop,
                     int64_t step)
{
    rd_affine_places(v, x, a, position_of_bound(x, a, start), position_of_bound(x, a, stop), step);
}

/* Fixes axis `a` of x at an index.  False: it is outside; an axis with a first index other than 0
 * has no negative positions that would count from the end. */
bool rd_affine_select(rd_affine *v, const rd_expr *x, int a, int64_t i)
{
    const int64_t place = position_of_bound(x, a, i);

    return (place >= 0 || !rd_origin(x, a)) && rd_affine_place(v, x, a, place);
}

/* Checks rank and size of the view, then writes its offsets, and its coefficients as a matrix: one
 * row for each axis of x, one column for each axis of the result.  False if v is NULL, or after
 * recording a failure for `call`. */
bool rd_affine_numbers(const rd_affine *v, rd_expr *x, const char *call,
                       int64_t number[RD_VIEW_NUMBERS])
{
    char text[RD_SHAPE_TEXT];

    if (!v || !rd_operands(call, 1, &x))
        return false;
    if (v->rank > RD_MAX_RANK) {
        rd_fail(x->ctx, RD_ERR_SHAPE, "%s: the result would have rank %d, at most %d are possible",
                call, v->rank, RD_MAX_RANK);
        return false;
    }
    if (rd_points(v->rank, v->extent) < 0) {
        rd_fail(x->ctx, RD_ERR_SHAPE, "%s: the size of the result overflows, shape %s", call,
                rd_shape_text(v->rank, v->extent, text));
        return false;
    }
    memcpy(number, v->offset, (size_t)x->rank * sizeof *number);
    memset(number + x->rank, 0, (size_t)(x->rank * v->rank) * sizeof *number);
    for (int k = 0; k < v->n_step; k++)
        number[x->rank + v->step[k].of * v->rank + v->step[k].along] = v->step[k].coef;
    return true;
}
