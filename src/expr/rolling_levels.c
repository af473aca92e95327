/* rolling_levels.c - rolling reductions by doubling: windows are built from shorter windows.
 *
 * Two windows of k neighbours make one of 2 k, and n is a sum of powers of two.  So an element
 * takes at most 2 log2 n operations, on rows that stay in cache.  No element is ever subtracted
 * again.  So a NaN or an infinity ends with its windows, sums do not cancel, and minima work as
 * sums do. */
#include "core/float_env.h"
#include "expr/origin.h"
#include "expr/rolling.h"

enum {
    FEW = 4,   /* windows that need no rows in cache */
    ROW = 2048 /* least number of windows in a row */
};

/* ---- Windows of windows ---------------------------------------------------------------------- */
/* Reductions of all windows of k neighbours; window i begins at element i of the axis. */
typedef struct windows {
    int64_t  k;       /* elements of a window */
    rd_expr *y;       /* sum, minimum or maximum */
    rd_expr *squares; /* variances: squares about the window's mean */
} windows;

/* The n elements of x along an axis from position `start` on; NULL given NULL. */
static rd_expr *slice_of(rd_expr *x, int axis, int64_t start, int64_t n)
{
    return x ? rd_slice_places(x, axis, start, start + n, 1) : NULL;
}

/* The sum of squares about the mean of two windows a and b joined (Chan, Golub and LeVeque 1979):
 * both sums plus (difference of the means)^2 * k l / (k + l), for k and l elements.  Windows store
 * sums, so means are sums / k. rd_float_quotient(n, high, low) is n / (high - low) in the default
 * rounding. */
static rd_expr *combine_squares(const rd_rolling *r, const windows *a, const windows *b)
{
    rd_ctx      *ctx = r->x->ctx;
    const double k = (double)a->k, l = (double)b->k;
    const bool   is_even    = a->k == b->k; /* one division serves both means */
    rd_expr     *difference = rd_rolling_map(
            r, RD_OP_sub,
        is_even ? b->y
                    : rd_rolling_map(r, RD_OP_mul, b->y, rd_num(ctx, rd_float_quotient(1, l, 0))),
        is_even ? a->y
                    : rd_rolling_map(r, RD_OP_mul, a->y, rd_num(ctx, rd_float_quotient(1, k, 0))));
    rd_expr *between = rd_map_op(RD_OP_square, r->call, 1, &difference);

    between = rd_rolling_map(
        r, RD_OP_mul, between,
        rd_num(ctx, is_even ? rd_float_quotient(1, k + l, 0) : rd_float_quotient(k * l, k + l, 0)));
    return rd_rolling_map(r, RD_OP_add, rd_rolling_map(r, RD_OP_add, a->squares, b->squares),
                          between);
}

/* Joins each window of a with the window of b that begins behind it, to windows of a->k + b->k
 * elements. n of these fit in the axis; `at` and `by` are their parts. */
static windows extended(const rd_rolling *r, int axis, const windows *a, const windows *b)
{
    const int64_t n  = a->y && b->y ? b->y->extent[axis] - a->k : 0;
    const windows at = { a->k, slice_of(a->y, axis, 0, n), slice_of(a->squares, axis, 0, n) };
    const windows by = { b->k, slice_of(b->y, axis, a->k, n), slice_of(b->squares, axis, a->k, n) };

    return (windows){ a->k + b->k, rd_rolling_map(r, rd_rolling_op(r), at.y, by.y),
                      r->what < RD_ROLLED_VAR ? NULL : combine_squares(r, &at, &by) };
}

/* Makes windows of count * power.k elements from windows `power`, by the binary digits of count:
 * power doubles at each digit, and a digit of 1 puts it before the windows so far. */
static windows by_digits(const rd_rolling *r, int axis, windows power, int64_t count)
{
    windows all = { 0 };

    for (; power.y && count; count >>= 1) {
        if (count & 1)
            all = all.k ? extended(r, axis, &power, &all) : power;
        if (count > 1)
            power = extended(r, axis, &power, &power);
    }
    return all;
}

/* Makes windows of r->n elements, each of which begins with a window of a (a->k elements) and ends
 * with one of b.  The two overlap, so it is for reducers that may take an element twice, such as
 * minima. */
static rd_expr *combine_overlapping(const rd_rolling *r, int axis, const windows *a,
                                    const windows *b)
{
    const int64_t later = r->n - b->k, n = b->y ? b->y->extent[axis] - later : 0;

    return rd_rolling_map(r, rd_rolling_op(r), slice_of(a->y, axis, 0, n),
                          slice_of(b->y, axis, later, n));
}

/* Reduces windows of r->n elements to minima and the like, as two overlapping windows with a power
 * of two of elements.  If n has at most two binary digits of 1, by_digits() takes no more
 * operations. */
static windows by_overlap(const rd_rolling *r, int axis, windows power)
{
    if (__builtin_popcountll((uint64_t)r->n) <= 2)
        return by_digits(r, axis, power, r->n);
    while (power.y && 2 * power.k <= r->n)
        power = extended(r, axis, &power, &power);
    power.y = combine_overlapping(r, axis, &power, &power);
    return power;
}

/* Subtracts from a row its middle element, if that is finite, so that squares about the mean lose
 * less to rounding. */
static rd_expr *centred(const rd_rolling *r, int axis, rd_expr *row)
{
    if (!row)
        return NULL;

    rd_expr *middle = slice_of(row, axis, row->extent[axis] / 2, 1);
    rd_expr *known  = rd_map_op(RD_OP_isfinite, r->call, 1, &middle);
    rd_expr *centre = rd_map_op(RD_OP_where, r->call, 3,
                                (rd_expr *const[]){ known, middle, rd_int(r->x->ctx, 0) });

    return rd_rolling_map(r, RD_OP_sub, row, centre);
}

/* Reduces all windows of r->n elements of a row along an axis, by doubling; minima and the like by
 * windows that overlap. r->near: the row is centred about 0 already. */
static rd_expr *reduce_row(const rd_rolling *r, int axis, rd_expr *row)
{
    windows all = { 0 };

    switch (r->what) {
    case RD_ROLLED_SUM:
    case RD_ROLLED_MEAN: all = by_digits(r, axis, (windows){ 1, row, NULL }, r->n); break;
    case RD_ROLLED_MIN:
    case RD_ROLLED_MAX:
    case RD_ROLLED_ANY:
    case RD_ROLLED_ALL: all = by_overlap(r, axis, (windows){ 1, row, NULL }); break;
    case RD_ROLLED_VAR:
    case RD_ROLLED_STD:
        row = r->near ? row : centred(r, axis, row);
        /* one element has squares of 0; row - row keeps a NaN */
        all = by_digits(r, axis, (windows){ 1, row, rd_rolling_map(r, RD_OP_sub, row, row) }, r->n);
        all.y = all.squares;
        break;
    }
    return rd_rolling_finish(r, rd_cast_to(all.y, r->wide));
}

/* Makes the result of a window from y, its sum, extreme, or sum of squares about the mean: a mean
 * is divided by n, a variance by n - ddof.  A divisor that is not positive gives NaN. */
rd_expr *rd_rolling_finish(const rd_rolling *r, rd_expr *y)
{
    const double n = (double)r->n, by = r->what == RD_ROLLED_MEAN ? n : n - r->ddof;

    if (by != 1 && (r->what == RD_ROLLED_MEAN || r->what >= RD_ROLLED_VAR))
        y = rd_rolling_map(r, RD_OP_div, y, rd_num(r->x->ctx, by > 0 ? by : (double)NAN));
    if (r->what == RD_ROLLED_STD)
        y = rd_map_op(RD_OP_sqrt, r->call, 1, &y);
    return rd_cast_to(y, r->type);
}

/* ---- Across memory --------------------------------------------------------------------------- */
/* The number of elements in a part of a window of n that minimises the cost of a window: elements
 * of a part + parts of the window + elements left over. */
static int64_t part_of(int64_t n)
{
    int64_t best = 1;

    for (int64_t part = 2; part * part <= 2 * n; part++)
        if (part + n / part + n % part <= best + n / best + n % best)
            best = part;
    return best;
}

/* Reduces each run of `part` neighbours by a fold of its own; for variances makes its sum as
 * well. */
static windows fold_part(const rd_rolling *r, rd_expr *x, int64_t part)
{
    rd_expr   *w    = rd_window(x, r->axis, part, /*step=*/1);
    rd_rolling sums = *r, of = *r;

    of.n      = part;
    sums.what = RD_ROLLED_SUM;
    if (r->what < RD_ROLLED_VAR)
        return (windows){ part, rd_rolling_total(&of, w, RD_DIMS(-1)), NULL };
    return (windows){ part, rd_rolling_total(&sums, w, RD_DIMS(-1)),
                      rd_rolling_total(&of, w, RD_DIMS(-1)) };
}

/* Reduces all windows of an axis across memory.  A window is some parts, each a fold that is stored
 * once, and single elements.  A row of parts is read as often as a window has parts, a row of
 * elements as often as a part has elements.  Both stay in cache for wider rows than whole windows
 * would allow. */
rd_expr *rd_rolling_by_parts(const rd_rolling *r)
{
    const int     axis = r->axis;
    const bool    var  = r->what >= RD_ROLLED_VAR;
    const int64_t part = part_of(r->n), left = r->n % part;
    rd_expr      *x   = var && !r->near ? centred(r, axis, r->x) : r->x;
    const windows one = fold_part(r, x, part);
    windows       all = by_digits(r, axis, one, r->n / part), tail = { 1, x, NULL };

    if (left && rd_rolling_op(r) == RD_OP_add) {
        tail.squares = var ? rd_rolling_map(r, RD_OP_sub, x, x) : NULL;
        tail         = by_digits(r, axis, tail, left);
        all          = extended(r, axis, &all, &tail);
    } else if (left)
        all.y = combine_overlapping(r, axis, &all, &one);
    return rd_rolling_finish(r, var ? all.squares : all.y);
}

/* ---- The axis in rows ------------------------------------------------------------------------ */
/* Cuts an axis into rows of n elements, one at every `step`, numbered by a new first axis; elements
 * of a row go along axis + 1. */
rd_expr *rd_rolling_split(rd_expr *x, int axis, int64_t n, int64_t step)
{
    rd_expr *rows = rd_move_axis(rd_window(x, axis, n, step), axis, 0);

    return rows ? rd_move_axis(rows, rows->rank - 1, axis + 1) : NULL;
}

/* Joins rows, which are numbered by the first axis, end to end along an axis again. */
rd_expr *rd_rolling_whole(rd_expr *rows, int axis)
{
    rd_shape shape = rd_shape_of(rd_select_place(rows, /*axis=*/0, /*place=*/0));

    if (!rows)
        return NULL;
    shape.at[axis] *= rows->extent[0];
    return rd_reshape(rd_move_axis(rows, 0, axis), shape);
}

/* Reduces all windows of an axis along memory.  The axis is cut into rows of `row` windows, which
 * overlap by r->n - 1 elements and stay in cache.  They are long enough that the overlap costs
 * little, and worth a loop.  The last row may be shorter. */
rd_expr *rd_rolling_by_rows(const rd_rolling *r, int axis)
{
    const int64_t row = 4 * r->n > ROW ? 4 * r->n : ROW, n = r->x->extent[axis] - r->n + 1;
    const int64_t count = n / row, left = n % row;
    rd_expr      *parts[2];
    rd_exprs      all = { parts, 0 };

    if (r->n <= FEW || count == 0 || axis + 1 == RD_MAX_RANK)
        return reduce_row(r, axis, r->x);
    parts[0]       = slice_of(r->x, axis, 0, count * row + r->n - 1);
    parts[0]       = reduce_row(r, axis + 1, rd_rolling_split(parts[0], axis, row + r->n - 1, row));
    parts[all.n++] = rd_rolling_whole(parts[0], axis);
    if (left)
        parts[all.n++] = reduce_row(r, axis, slice_of(r->x, axis, count * row, left + r->n - 1));
    return rd_concat(axis, all);
}
