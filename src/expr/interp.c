/* interp.c - linear interpolation: a bisection finds the interval, gathers read its two points. */
#include "expr/complex.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include <math.h>

static const char call[] = "rd_interp";

/* The known points, and the values to find between them. */
typedef struct points {
    int      axis;       /* of fp */
    int64_t  n;          /* points */
    rd_expr *descending; /* true if positions descend: all positions are then negated */
    rd_expr *xp, *fp;    /* positions and values, f64; xp ascends */
    rd_expr *x;          /* the positions asked for, reshaped to the rank of the result */
    rd_expr *at;         /* of x's own shape: the point before each x, 0 to n - 2 */
} points;

/* True if the positions xp are a row, not empty, as long as the axis of the values fp.  False after
 * recording that they are not. */
static bool shapes_ok(rd_expr *x, const rd_expr *xp, const rd_expr *fp, int axis)
{
    char own[RD_SHAPE_TEXT], other[RD_SHAPE_TEXT];

    if (xp->rank != 1 || xp->extent[0] != fp->extent[axis])
        rd_fail(x->ctx, RD_ERR_SHAPE,
                "%s: positions are one row, as long as axis %d of the values: shape %s beside %s",
                call, axis, rd_shape_text(xp->rank, xp->extent, own),
                rd_shape_text(fp->rank, fp->extent, other));
    else if (xp->extent[0] == 0)
        rd_fail(x->ctx, RD_ERR_SHAPE, "%s: no point to go by", call);
    else
        return true;
    return false;
}

/* Reshapes x to the rank of the result, in which the axes of x replace the axis of fp: appends one
 * axis of extent 1 for each axis of fp behind that one. */
static rd_expr *reshape_to_result(rd_expr *x, const rd_expr *fp, int axis)
{
    rd_shape shape = { .n = x->rank + fp->rank - 1 - axis };

    for (int a = 0; a < shape.n; a++)
        shape.at[a] = a < x->rank ? x->extent[a] : 1;
    return fp->rank - 1 - axis ? rd_reshape(x, shape) : x;
}

/* Gathers xp at the known point before each x (k is 0), or at the next one (k is 1), in the rank of
 * the result. */
static rd_expr *point_position(const points *p, int k)
{
    rd_expr *const at = map_2(RD_OP_add, call, p->at, rd_int(p->x->ctx, k));
    rd_expr *const y  = at ? rd_take_places(p->xp, 0, at) : NULL;

    return y ? reshape_to_result(y, p->fp, p->axis) : NULL;
}

/* Gathers fp, the values, at the known point before each x (k is 0), or at the next one (k is
 * 1). */
static rd_expr *point_value(const points *p, int k)
{
    rd_expr *const at = map_2(RD_OP_add, call, p->at, rd_int(p->x->ctx, k));

    return at ? rd_take_places(p->fp, p->axis, at) : NULL;
}

/* y + slope * (x - from), the line through the point (from, y). */
static rd_expr *on_line(const points *p, rd_expr *slope, rd_expr *from, rd_expr *y)
{
    return map_2(RD_OP_add, call, map_2(RD_OP_mul, call, slope, map_2(RD_OP_sub, call, p->x, from)),
                 y);
}

/* Interpolates between the point before x and the next one.  The line starts at the left point, or
 * at the right one where that gives NaN, as with an infinite value.  Equal values, and x at a
 * point, give the value itself. */
static rd_expr *interpolate(const points *p)
{
    rd_expr *const x0 = point_position(p, 0), *const x1 = point_position(p, 1);
    rd_expr *const y0 = point_value(p, 0), *const y1 = point_value(p, 1);
    rd_expr *const slope =
        map_2(RD_OP_div, call, map_2(RD_OP_sub, call, y1, y0), map_2(RD_OP_sub, call, x1, x0));
    rd_expr *const left = on_line(p, slope, x0, y0), *const right = on_line(p, slope, x1, y1);
    rd_expr *y = map_where(call, map_2(RD_OP_eq, call, y0, y1), y0, right);

    y = map_where(call, map_1(RD_OP_isnan, call, right), y, right);
    y = map_where(call, map_1(RD_OP_isnan, call, left), y, left);
    return map_where(call, map_2(RD_OP_eq, call, p->x, x0), y0, y);
}

/* The value fp at one point for all results: `place` is 0 (the first) or n - 1 (the last). */
static rd_expr *end_value(const points *p, int64_t place)
{
    rd_expr *const at = rd_broadcast(rd_int(p->x->ctx, place), rd_shape_of(p->at));

    return at ? rd_take_places(p->fp, p->axis, at) : NULL;
}

/* Chooses the result beyond one end: the caller's (one of left and right), or NULL: the value
 * there, `end`.  Descending positions have been negated, so for them the caller's left and right
 * are swapped. */
static rd_expr *end_result(const points *p, rd_expr *if_descending, rd_expr *if_ascending,
                           rd_expr *end)
{
    if (!if_descending && !if_ascending)
        return end;
    return map_where(call, p->descending, if_descending ? if_descending : end,
                     if_ascending ? if_ascending : end);
}

/* Replaces results y beyond the ends by the caller's `left` and `right`, those at the last point by
 * its value, and those where x is NaN by NaN. */
static rd_expr *replace_outside(const points *p, rd_expr *y, rd_expr *left, rd_expr *right)
{
    rd_expr *const low  = rd_select_place(p->xp, 0, 0);
    rd_expr *const high = rd_select_place(p->xp, 0, p->n - 1);
    rd_expr *const end = end_value(p, p->n - 1), *const given_left = left;

    left  = end_result(p, right, left, end_value(p, 0));
    right = end_result(p, given_left, right, end);
    y     = map_where(call, map_2(RD_OP_eq, call, p->x, high), end, y);
    y     = map_where(call, map_2(RD_OP_gt, call, p->x, high), right, y);
    y     = map_where(call, map_2(RD_OP_lt, call, p->x, low), left, y);
    return map_where(call, map_1(RD_OP_isnan, call, p->x), p->x, y);
}

/* True if the last position is less than the first: all positions descend then. */
static rd_expr *is_descending(rd_expr *xp)
{
    const int64_t n = xp->extent[0];

    return map_2(RD_OP_lt, call, rd_select_place(xp, 0, n - 1), rd_select_place(xp, 0, 0));
}

/* Negates descending positions, then finds the interval of each x by bisection: p->at is the point
 * before it, clamped so that p->at + 1 is a point as well.  False after a failure. */
static bool find_intervals(points *p, rd_expr *x)
{
    rd_ctx *const ctx = x->ctx;

    p->descending       = is_descending(p->xp);
    rd_expr *const sign = map_where(call, p->descending, rd_num(ctx, -1), rd_num(ctx, 1));

    p->xp = map_2(RD_OP_mul, call, p->xp, sign);
    x     = map_2(RD_OP_mul, call, rd_cast_to(x, RD_F64), sign);
    if (!p->xp || !x)
        return false;
    p->x  = reshape_to_result(x, p->fp, p->axis);
    p->at = map_2(RD_OP_sub, call, rd_searchsorted(p->xp, x, RD_RIGHT), rd_int(ctx, 1));
    p->at = map_2(RD_OP_maximum, call,
                  map_2(RD_OP_minimum, call, p->at, rd_int(ctx, p->n > 1 ? p->n - 2 : 0)),
                  rd_int(ctx, 0));
    return p->x && p->at;
}

/* Interpolates real values in f64 and casts the result to their type. left and right replace
 * results beyond the ends; NULL: the value at the end.  A single point gives its value
 * everywhere. */
static rd_expr *interpolate_real(rd_expr *x, rd_expr *xp, rd_expr *fp, int axis, rd_expr *left,
                                 rd_expr *right)
{
    const rd_dtype type = rd_dtype_kind(fp->type) < RD_KIND_FLOAT ? RD_F64 : fp->type;
    points         p    = { .axis = axis, .n = xp->extent[0] };
    rd_expr       *y;

    p.xp = rd_cast_to(xp, RD_F64);
    p.fp = rd_cast_to(fp, RD_F64);
    if (!p.xp || !p.fp || !find_intervals(&p, x))
        return NULL;
    y = p.n > 1 ? interpolate(&p) : end_value(&p, /*place=*/0);
    y = replace_outside(&p, y, left, right);
    return y ? rd_cast_to(y, type) : NULL;
}

/* Interpolates linearly between the points (xp, fp) at the positions x: the public call, which
 * checks operands.  Complex values are interpolated part by part. */
rd_expr *rd_interp(rd_expr *x, rd_expr *xp, rd_expr *fp, int axis, rd_expr *left, rd_expr *right)
{
    rd_expr *operands[5] = { x, xp, fp };
    int      n           = 3;

    if (left)
        operands[n++] = left;
    if (right)
        operands[n++] = right;
    if (!rd_operands(call, n, operands) || rd_refuse_complex(call, 2, operands) ||
        (axis = rd_axis(fp, axis, call)) < 0 || !shapes_ok(x, xp, fp, axis) ||
        !rd_from_0(3, operands))
        return NULL;
    if (!rd_is_complex(fp))
        return rd_refuse_complex(call, n - 3, operands + 3)
                   ? NULL
                   : interpolate_real(operands[0], operands[1], operands[2], axis, left, right);
    rd_expr *part[2];
    for (int k = 0; k < 2; k++)
        part[k] = interpolate_real(operands[0], operands[1], operands[2]->in[k], axis,
                                   left ? k ? rd_imag(left) : rd_real(left) : NULL,
                                   right ? k ? rd_imag(right) : rd_real(right) : NULL);
    return rd_complex_of(part[0], part[1], call);
}
