/* rolling.c - reductions of each window of n neighbours.
 *
 * The windows of 2 k neighbours are made of those of k, two each, and n is a sum of powers of two.
 * So all windows together take no more than 2 log2 n operations an element, on rows that stay in
 * cache; long ones take two scans (rolling_scans.c).  No element is ever taken away again, so that
 * a NaN or an infinity ends with its windows, nothing cancels, and all that holds for sums holds
 * for minima. */
#include "expr/origin.h"
#include "expr/rolling.h"
#include <stdlib.h>
#include <string.h>

enum {
    FEW       = 4,    /* neighbours that need no rows in cache   */
    ROW       = 2048, /* windows of a row, at least              */
    LONG      = 4096, /* windows of more elements are scanned    */
    SHORT     = 48,   /* the same across memory, and for         */
    SHORT_VAR = 16    /* variances                               */
};

/* ---- Windows of windows ---------------------------------------------------------------------- */
/* What windows of k neighbours come to: the i-th begins at element i of the axis. */
typedef struct windows {
    int64_t  k;
    rd_expr *y;       /* sum, least or greatest                 */
    rd_expr *squares; /* of variances: about the window's mean  */
} windows;

static rd_expr *cut(rd_expr *x, int axis, int64_t start, int64_t n)
{
    return x ? rd_slice_places(x, axis, start, start + n, 1) : NULL;
}

/* About the mean of two parts together: Chan, Golub and LeVeque (1979), "Updating formulae and a
 * pairwise algorithm for computing sample variances". */
static rd_expr *squares(const rd_rolling *r, const windows *a, const windows *b)
{
    rd_ctx      *ctx = r->x->ctx;
    const double k = (double)a->k, l = (double)b->k;
    rd_expr     *far =
        rd_rolling_map(r, RD_OP_sub, rd_rolling_map(r, RD_OP_mul, b->y, rd_num(ctx, 1 / l)),
                       rd_rolling_map(r, RD_OP_mul, a->y, rd_num(ctx, 1 / k)));
    rd_expr *between = rd_map_op(RD_OP_square, r->call, 1, &far);

    between = rd_rolling_map(r, RD_OP_mul, between, rd_num(ctx, k * l / (k + l)));
    return rd_rolling_map(r, RD_OP_add, rd_rolling_map(r, RD_OP_add, a->squares, b->squares),
                          between);
}

/* Windows of a with those of b right behind. */
static windows followed(const rd_rolling *r, int axis, const windows *a, const windows *b)
{
    const int64_t n  = a->y && b->y ? b->y->extent[axis] - a->k : 0;
    const windows at = { a->k, cut(a->y, axis, 0, n), cut(a->squares, axis, 0, n) };
    const windows by = { b->k, cut(b->y, axis, a->k, n), cut(b->squares, axis, a->k, n) };

    return (windows){ a->k + b->k, rd_rolling_map(r, rd_rolling_op(r), at.y, by.y),
                      r->what < RD_ROLLED_VAR ? NULL : squares(r, &at, &by) };
}

/* n in binary digits: a window begins with the greatest power of two. */
static windows by_digits(const rd_rolling *r, int axis, windows power)
{
    windows all = { 0 };

    while (power.y && all.k < r->n) {
        if (r->n & power.k)
            all = all.k ? followed(r, axis, &power, &all) : power;
        power = all.k < r->n ? followed(r, axis, &power, &power) : power;
    }
    return all;
}

/* What may be taken twice: two windows of a power of two that overlap. */
static windows by_overlap(const rd_rolling *r, int axis, windows power)
{
    while (power.y && 2 * power.k <= r->n)
        power = followed(r, axis, &power, &power);
    if (!power.y || power.k == r->n)
        return power;
    const int64_t later = r->n - power.k, n = power.y->extent[axis] - later;

    power.y =
        rd_rolling_map(r, rd_rolling_op(r), cut(power.y, axis, 0, n), cut(power.y, axis, later, n));
    return power;
}

/* Numbers near 0 for those of a row: the less they are, the less is lost of how far they lie
 * apart. */
static rd_expr *centred(const rd_rolling *r, int axis, rd_expr *row)
{
    rd_expr *middle = row ? cut(row, axis, row->extent[axis] / 2, 1) : NULL;
    rd_expr *known  = rd_map_op(RD_OP_isfinite, r->call, 1, &middle);
    rd_expr *centre = rd_map_op(RD_OP_where, r->call, 3,
                                (rd_expr *const[]){ known, middle, rd_int(r->x->ctx, 0) });

    return rd_rolling_map(r, RD_OP_sub, row, centre);
}

/* All windows of a row along an axis. */
static rd_expr *windows_of(const rd_rolling *r, int axis, rd_expr *row)
{
    windows all = { 0 };

    switch (r->what) {
    case RD_ROLLED_SUM:
    case RD_ROLLED_MEAN: all = by_digits(r, axis, (windows){ 1, row, NULL }); break;
    case RD_ROLLED_MIN:
    case RD_ROLLED_MAX: all = by_overlap(r, axis, (windows){ 1, row, NULL }); break;
    case RD_ROLLED_VAR:
    case RD_ROLLED_STD:
        row   = centred(r, axis, row);
        all   = by_digits(r, axis, (windows){ 1, row, rd_rolling_map(r, RD_OP_sub, row, row) });
        all.y = all.squares;
        break;
    }
    return rd_rolling_finish(r, all.y);
}

rd_expr *rd_rolling_finish(const rd_rolling *r, rd_expr *y)
{
    const double n = (double)r->n, by = r->what == RD_ROLLED_MEAN ? n : n - r->ddof;

    if (r->what == RD_ROLLED_MEAN || r->what >= RD_ROLLED_VAR)
        y = rd_rolling_map(r, RD_OP_div, y, rd_num(r->x->ctx, by > 0 ? by : (double)NAN));
    if (r->what == RD_ROLLED_STD)
        y = rd_map_op(RD_OP_sqrt, r->call, 1, &y);
    return rd_cast_to(y, r->type);
}

/* ---- The axis in rows ------------------------------------------------------------------------ */
rd_expr *rd_rolling_split(rd_expr *x, int axis, int64_t n, int64_t step)
{
    rd_expr *rows = rd_move_axis(rd_window(x, axis, n, step), axis, 0);

    return rows ? rd_move_axis(rows, rows->rank - 1, axis + 1) : NULL;
}

rd_expr *rd_rolling_whole(rd_expr *rows, int axis)
{
    rd_shape shape = rd_shape_of(rd_select_place(rows, 0, 0));

    if (!rows)
        return NULL;
    shape.at[axis] *= rows->extent[0];
    return rd_reshape(rd_move_axis(rows, 0, axis), shape);
}

/* Rows overlap by n - 1 elements: they are as long as makes that little, and worth a loop. */
static rd_expr *by_rows(const rd_rolling *r, int axis)
{
    const int64_t row = 4 * r->n > ROW ? 4 * r->n : ROW, n = r->x->extent[axis] - r->n + 1;
    const int64_t count = n / row, left = n % row;
    rd_expr      *parts[2];
    rd_exprs      all = { parts, 0 };

    if (r->n <= FEW || count == 0 || axis + 1 == RD_MAX_RANK)
        return windows_of(r, axis, r->x);
    parts[0]       = cut(r->x, axis, 0, count * row + r->n - 1);
    parts[0]       = windows_of(r, axis + 1, rd_rolling_split(parts[0], axis, row + r->n - 1, row));
    parts[all.n++] = rd_rolling_whole(parts[0], axis);
    if (left)
        parts[all.n++] = windows_of(r, axis, cut(r->x, axis, count * row, left + r->n - 1));
    return rd_concat(axis, all);
}

/* Each window by itself. */
static rd_expr *one_by_one(const rd_rolling *r)
{
    return rd_rolling_finish(r,
                             rd_rolling_total(r, rd_window(r->x, r->axis, r->n, 1), RD_DIMS(-1)));
}

/* ---- Along memory or across ------------------------------------------------------------------ */
/* Elements from one index of each axis to the next, of the first operand in memory; of what is
 * made, C order. */
static void find_steps(const rd_expr *x, int depth, int64_t *step)
{
    enum { DEEPEST = 8 };
    int64_t inner[RD_MAX_RANK] = { 0 };
    bool    known              = false;

    if (x->kind == RD_EXPR_LEAF) {
        memcpy(step, x->as.leaf->stride, (size_t)x->rank * sizeof *step);
        return;
    }
    if (depth < DEEPEST && x->kind == RD_EXPR_VIEW) {
        find_steps(x->in[0], depth + 1, inner);
        for (int k = 0; k < x->rank; k++) {
            step[k] = 0;
            for (int a = 0; a < x->in[0]->rank; a++)
                step[k] += inner[a] * x->as.view->number[x->in[0]->rank + a * x->rank + k];
        }
        return;
    }
    for (int i = 0; i < x->n_in && depth < DEEPEST && x->kind == RD_EXPR_MAP && !known; i++) {
        find_steps(x->in[i], depth + 1, step);
        for (int k = 0; k < x->rank; k++)
            known |= step[k] != 0;
    }
    if (!known)
        rd_dense_strides(x->rank, x->extent, 0, step);
}

/* Is no other axis walked in smaller steps? */
static bool is_along_memory(const rd_expr *x, int axis)
{
    int64_t step[RD_MAX_RANK] = { 0 };

    find_steps(x->kind == RD_EXPR_COMPLEX ? x->in[0] : x, 0, step);
    for (int k = 0; k < x->rank; k++)
        if (k != axis && x->extent[k] > 1 && step[k] && llabs(step[k]) < llabs(step[axis]))
            return false;
    return true;
}

/* Neighbours across memory are in other rows: few are reduced one by one, by vectors of rows. */
static rd_expr *reduced(rd_rolling *r)
{
    const int     axis = r->axis, last = r->x->rank - 1;
    const bool    along = is_along_memory(r->x, axis), spare = last + 1 < RD_MAX_RANK;
    const int64_t most = along ? LONG : r->what < RD_ROLLED_VAR ? SHORT : SHORT_VAR;

    if (r->n > r->x->extent[axis])
        return rd_cast_to(cut(r->x, axis, 0, 0), r->type); /* no window */
    if (r->n > most && spare)
        return rd_rolling_by_scans(r);
    if (!along && spare)
        return one_by_one(r);
    if (!(r->x = rd_move_axis(r->x, axis, last)))
        return NULL;
    return rd_move_axis(by_rows(r, last), last, axis);
}

static bool begin(rd_rolling *r, rd_expr *x, int axis, int64_t n)
{
    if (!rd_operands(r->call, 1, &x) || (r->axis = rd_axis(x, axis, r->call)) < 0)
        return false;
    if (n < 1) {
        rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: windows of %lld elements, at least 1 is needed",
                r->call, (long long)n);
        return false;
    }
    r->n    = n;
    r->x    = rd_cast_to(x, x->type);
    r->type = r->x ? r->x->type : RD_F64;
    return r->x != NULL;
}

/* x in the type of its sums, which is that of the results; halves are added in f32. */
static bool begin_sum(rd_rolling *r, rd_expr *x, int axis, int64_t n)
{
    if (!begin(r, x, axis, n))
        return false;
    r->type = rd_type_of(rd_sum(r->x, RD_DIMS(r->axis)));
    r->x    = rd_cast_to(r->x, rd_dtype_is_half(r->type) ? RD_F32 : r->type);
    return r->x != NULL;
}

/* The same of what is divided: ints give f64. */
static bool begin_quotient(rd_rolling *r, rd_expr *x, int axis, int64_t n)
{
    const rd_kind kind = x ? rd_dtype_kind(x->type) : RD_KIND_FLOAT;

    return begin_sum(r, kind == RD_KIND_FLOAT || kind == RD_KIND_COMPLEX ? x : rd_cast(x, RD_F64),
                     axis, n);
}

/* ---- Public functions ------------------------------------------------------------------------ */
rd_expr *rd_rolling_min(rd_expr *x, int axis, int64_t n)
{
    rd_rolling r = { .call = "rd_rolling_min", .what = RD_ROLLED_MIN };

    return begin(&r, x, axis, n) ? reduced(&r) : NULL;
}

rd_expr *rd_rolling_max(rd_expr *x, int axis, int64_t n)
{
    rd_rolling r = { .call = "rd_rolling_max", .what = RD_ROLLED_MAX };

    return begin(&r, x, axis, n) ? reduced(&r) : NULL;
}

rd_expr *rd_rolling_sum(rd_expr *x, int axis, int64_t n)
{
    rd_rolling r = { .call = "rd_rolling_sum", .what = RD_ROLLED_SUM };

    return begin_sum(&r, x, axis, n) ? reduced(&r) : NULL;
}

rd_expr *rd_rolling_mean(rd_expr *x, int axis, int64_t n)
{
    rd_rolling r = { .call = "rd_rolling_mean", .what = RD_ROLLED_MEAN };

    return begin_quotient(&r, x, axis, n) ? reduced(&r) : NULL;
}

/* The mean of |x - mean|^2 is that of both parts' squares. */
static rd_expr *complex_variance(const rd_rolling *r, rd_expr *x, int axis, int64_t n)
{
    rd_expr *part[2];

    for (int p = 0; p < 2; p++) {
        rd_rolling of = { .call = r->call, .what = RD_ROLLED_VAR, .ddof = r->ddof };

        part[p] = begin_quotient(&of, x->in[p], axis, n) ? reduced(&of) : NULL;
    }
    rd_expr *y = rd_map_op(RD_OP_add, r->call, 2, part);
    return r->what == RD_ROLLED_STD ? rd_map_op(RD_OP_sqrt, r->call, 1, &y) : y;
}

static rd_expr *variance(rd_rolling *r, rd_expr *x, int axis, int64_t n)
{
    if (x && rd_is_complex(x))
        return complex_variance(r, x, axis, n);
    return begin_quotient(r, x, axis, n) ? reduced(r) : NULL;
}

rd_expr *rd_rolling_var(rd_expr *x, int axis, int64_t n, double ddof)
{
    rd_rolling r = { .call = "rd_rolling_var", .what = RD_ROLLED_VAR, .ddof = ddof };

    return variance(&r, x, axis, n);
}

rd_expr *rd_rolling_std(rd_expr *x, int axis, int64_t n, double ddof)
{
    rd_rolling r = { .call = "rd_rolling_std", .what = RD_ROLLED_STD, .ddof = ddof };

    return variance(&r, x, axis, n);
}
