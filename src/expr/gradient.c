/* gradient.c - derivatives along an axis by finite differences of two and three points: Fornberg
 * (1988), "Generation of finite difference formulas on arbitrarily spaced grids".
 *
 *     even steps h: y'[i] = (y[i + 1] - y[i - 1]) / (2 h) */
#include "expr/along.h"
#include "expr/maps.h"
#include "expr/origin.h"

/* A gradient while it is built. */
typedef struct slopes {
    const char *call;  /* for failures */
    rd_expr    *y, *x; /* the data; the step, a number, or positions of y's rank */
    int         axis;
    int64_t     n; /* elements along the axis */
} slopes;

/* The n elements of x along the axis of the gradient from position `start` on. */
static rd_expr *slice(const slopes *s, rd_expr *x, int64_t start, int64_t n)
{
    return rd_slice_places(x, s->axis, start, start + n, 1);
}

/* x + y. */
static rd_expr *plus(const slopes *s, rd_expr *x, rd_expr *y)
{
    return map_2(RD_OP_add, s->call, x, y);
}

/* x - y. */
static rd_expr *minus(const slopes *s, rd_expr *x, rd_expr *y)
{
    return map_2(RD_OP_sub, s->call, x, y);
}

/* x * y. */
static rd_expr *times(const slopes *s, rd_expr *x, rd_expr *y)
{
    return map_2(RD_OP_mul, s->call, x, y);
}

/* x / y. */
static rd_expr *over(const slopes *s, rd_expr *x, rd_expr *y)
{
    return map_2(RD_OP_div, s->call, x, y);
}

/* A weak constant: it takes the type of the operands beside it. */
static rd_expr *number(const slopes *s, double value)
{
    return rd_num(s->y->ctx, value);
}

/* The n distances between adjacent positions from `start` on. s->x of rank 0 is the distance
 * itself, as all are equal. */
static rd_expr *steps(const slopes *s, int64_t start, int64_t n)
{
    return s->x->rank ? minus(s, slice(s, s->x, start + 1, n), slice(s, s->x, start, n)) : s->x;
}

/* The weighted sum by[0] of[0] + by[1] of[1] + by[2] of[2]. */
static rd_expr *weighted_sum(const slopes *s, rd_expr *const of[3], rd_expr *const by[3])
{
    return plus(s, plus(s, times(s, by[0], of[0]), times(s, by[1], of[1])), times(s, by[2], of[2]));
}

/* ---- At the ends ----------------------------------------------------------------------------- */
/* The slope of the line through elements at and at + 1. */
static rd_expr *slope_of_line(const slopes *s, int64_t at)
{
    return over(s, minus(s, slice(s, s->y, at + 1, 1), slice(s, s->y, at, 1)), steps(s, at, 1));
}

/* The slope of the parabola at the first, or last, of three elements with equal steps h: (-3 y0 + 4
 * y1 - y2) / (2 h), or its mirror image. */
static rd_expr *slope_even_steps(const slopes *s, rd_expr *const y[3], bool last)
{
    const double sign = last ? -1 : 1;
    rd_expr     *by[3];

    by[last ? 2 : 0] = over(s, number(s, sign * -1.5), s->x);
    by[1]            = over(s, number(s, sign * 2), s->x);
    by[last ? 0 : 2] = over(s, number(s, sign * -0.5), s->x);
    return weighted_sum(s, y, by);
}

/* The slope of the parabola through the three elements from `at` on, at the first, or last, of
 * them: a weighted sum.  The weights (Fornberg) follow from two distances: p at this end, and q.
 * They are -(2 p + q) / (p (p + q)), (p + q) / (p q) and -p / (q (p + q)), negated at the last
 * element. */
static rd_expr *slope_of_parabola(const slopes *s, int64_t at, bool last)
{
    rd_expr *const y[] = { slice(s, s->y, at, 1), slice(s, s->y, at + 1, 1),
                           slice(s, s->y, at + 2, 1) };
    rd_expr       *by[3];

    if (!s->x->rank)
        return slope_even_steps(s, y, last);
    /* the step adjacent to this end, and the other one */
    rd_expr *const p        = steps(s, last ? at + 1 : at, 1);
    rd_expr *const q        = steps(s, last ? at : at + 1, 1);
    rd_expr *const total    = plus(s, p, q);
    rd_expr *const near     = over(s, plus(s, p, total), times(s, p, total));
    rd_expr *const mid      = over(s, total, times(s, p, q));
    rd_expr *const far      = over(s, p, times(s, q, total));
    rd_expr *const negative = number(s, -1);

    by[last ? 2 : 0] = last ? near : times(s, near, negative);
    by[1]            = last ? times(s, mid, negative) : mid;
    by[last ? 0 : 2] = last ? far : times(s, far, negative);
    return weighted_sum(s, y, by);
}

/* ---- Inside ---------------------------------------------------------------------------------- */
/* The slopes at all elements but the first and the last, each from the elements on both sides.
 * With equal steps h it is (y[i + 1] - y[i - 1]) / (2 h), else a weighted sum of three elements. */
static rd_expr *inner_slopes(const slopes *s)
{
    const int64_t  n   = s->n - 2;
    rd_expr *const y[] = { slice(s, s->y, 0, n), slice(s, s->y, 1, n), slice(s, s->y, 2, n) };

    if (!s->x->rank)
        return over(s, minus(s, y[2], y[0]), times(s, s->x, number(s, 2)));
    rd_expr *const p     = steps(s, 0, n);
    rd_expr *const q     = steps(s, 1, n);
    rd_expr *const total = plus(s, p, q);
    rd_expr *const by[]  = { times(s, over(s, q, times(s, p, total)), number(s, -1)),
                             over(s, minus(s, q, p), times(s, p, q)),
                             over(s, p, times(s, q, total)) };

    return weighted_sum(s, y, by);
}

/* Concatenates the slopes at the first element, inside, and at the last.  Order 1 takes the slope
 * of a line at the ends, order 2 of a parabola. */
static rd_expr *all_slopes(const slopes *s, int order)
{
    rd_expr *parts[3];
    rd_exprs all = { parts, 0 };

    parts[all.n++] = order == 1 ? slope_of_line(s, 0) : slope_of_parabola(s, 0, /*last=*/false);
    if (s->n > 2)
        parts[all.n++] = inner_slopes(s);
    parts[all.n++] =
        order == 1 ? slope_of_line(s, s->n - 2) : slope_of_parabola(s, s->n - 3, /*last=*/true);
    return rd_concat(s->axis, all);
}

/* ---------------------------------------------------------------------------------------------- */

/* True if the order at the ends is 1 (lines) or 2 (parabolas), and there are enough elements for
 * it.  False after recording it. */
static bool check_order(const slopes *s, int order)
{
    char shape[RD_SHAPE_TEXT];

    if (order != 1 && order != 2)
        rd_fail(s->y->ctx, RD_ERR_ARGUMENT, "%s: order %d at the ends, possible are 1 and 2",
                s->call, order);
    else if (s->n <= order)
        rd_fail(s->y->ctx, RD_ERR_SHAPE,
                "%s: %lld elements along axis %d of shape %s, at least %d are needed", s->call,
                (long long)s->n, s->axis, rd_shape_text(s->y->rank, s->y->extent, shape),
                order + 1);
    else
        return true;
    return false;
}

/* Casts ints to f64 and narrow floats to f32, so that these are rounded only once, at the end. */
static rd_expr *widen(rd_expr *x)
{
    x = rd_real_numbers(x);
    return x && rd_dtype_is_narrow_float(x->type) ? rd_cast_to(x, RD_F32) : x;
}

/* The derivative of y along an axis: the public call. x is the distance of adjacent elements, or
 * their positions.  Halves are computed in f32 and cast back. */
rd_expr *rd_gradient(rd_expr *y, rd_expr *x, int axis, int order)
{
    slopes         s          = { .call = "rd_gradient" };
    rd_expr *const operands[] = { y, x };

    if (!rd_operands(s.call, 2, operands) || (s.axis = rd_axis(y, axis, s.call)) < 0)
        return NULL;
    s.y = y;
    s.n = y->extent[s.axis];
    if (!rd_positions_ok(s.call, x, y, s.axis) || !check_order(&s, order))
        return NULL;
    const bool     is_narrow = rd_dtype_is_narrow_float(rd_rule_type(RD_RULE_FLOAT, 2, operands));
    const rd_dtype type      = is_narrow ? rd_rule_type(RD_RULE_FLOAT, 2, operands) : RD_AUTO;

    if (!(s.y = widen(y)) || !(s.x = widen(x)) || !(s.x = rd_positions_along(s.x, s.y, s.axis)))
        return NULL;
    rd_expr *const g = rd_with_origins(all_slopes(&s, order), y->origin);

    return g && is_narrow ? rd_cast_to(g, type) : g;
}
