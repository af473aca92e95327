/* rolling.c - reductions of each window of n neighbours.
 *
 * The windows of 2 k neighbours are made of those of k, two each, and n is a sum of powers of two.
 * So all windows together take no more than 2 log2 n operations an element, on rows that stay in
 * cache; long ones take two scans (rolling_scans.c).  No element is ever taken away again, so that
 * a NaN or an infinity ends with its windows, nothing cancels, and all that holds for sums holds
 * for minima. */
#include "core/float_env.h"
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
    rd_expr     *far = rd_rolling_map(
            r, RD_OP_sub, rd_rolling_map(r, RD_OP_mul, b->y, rd_num(ctx, rd_float_quotient(1, l, 0))),
            rd_rolling_map(r, RD_OP_mul, a->y, rd_num(ctx, rd_float_quotient(1, k, 0))));
    rd_expr *between = rd_map_op(RD_OP_square, r->call, 1, &far);

    between =
        rd_rolling_map(r, RD_OP_mul, between, rd_num(ctx, rd_float_quotient(k * l, k + l, 0)));
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

/* ---- Operands -------------------------------------------------------------------------------- */
static bool begin(rd_rolling *r, rd_expr *x, const rd_rolling_opts *o)
{
    if (!rd_operands(r->call, 1, &x) || (r->axis = rd_axis(x, o->axis, r->call)) < 0)
        return false;
    if (o->n < 1) {
        rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: windows of %lld elements, at least 1 is needed",
                r->call, (long long)o->n);
        return false;
    }
    r->n    = o->n;
    r->ddof = o->ddof;
    r->x    = rd_cast_to(x, x->type);
    return r->x != NULL;
}

/* Results are of the type that is asked for, or of `natural`; what they are computed in holds both, of
 * halves it is f32.  Of real elements a complex type is that of its parts, until the end. */
static bool in_types(rd_rolling *r, rd_dtype natural, rd_dtype asked, bool sums)
{
    rd_dtype type = natural;

    if (rd_dtype_is_complex(natural) && asked && !rd_dtype_is_complex(asked)) {
        rd_fail(r->x->ctx, RD_ERR_TYPE,
                "%s: .type is %s, and elements are complex; take rd_real() first", r->call,
                rd_dtype_name(asked));
        return false;
    }
    if (asked && rd_dtype_is_complex(asked) && !rd_dtype_is_complex(natural))
        type = rd_dtype_promote(natural, rd_dtype_part(asked));
    else if (asked)
        type = rd_dtype_promote(natural, asked);
    r->type = asked ? asked : natural;
    r->x    = rd_cast_to(r->x, sums && rd_dtype_is_half(type) ? RD_F32 : type);
    return r->x != NULL;
}

/* Sums have the type of those of rd_sum(), and what is divided gives floats. */
static rd_dtype natural_type(const rd_rolling *r)
{
    const rd_kind kind = rd_dtype_kind(r->x->type);

    if (r->what == RD_ROLLED_MIN || r->what == RD_ROLLED_MAX)
        return r->x->type;
    if (r->what != RD_ROLLED_SUM && kind != RD_KIND_FLOAT && kind != RD_KIND_COMPLEX)
        return RD_F64;
    return rd_type_of(rd_sum(r->x, RD_DIMS(r->axis)));
}

static rd_expr *build(rd_rolling *r, rd_expr *x, const rd_rolling_opts *o)
{
    const bool sums = r->what != RD_ROLLED_MIN && r->what != RD_ROLLED_MAX;

    return begin(r, x, o) && in_types(r, natural_type(r), o->type, sums) ? reduced(r) : NULL;
}

/* The mean of |x - mean|^2 is that of both parts' squares. */
static rd_expr *complex_variance(const rd_rolling *r, rd_expr *x, const rd_rolling_opts *o)
{
    rd_expr        *part[2];
    rd_rolling_opts of_parts = *o;

    of_parts.type = rd_dtype_is_complex(o->type) ? rd_dtype_part(o->type) : o->type;
    for (int p = 0; p < 2; p++) {
        rd_rolling of = { .call = r->call, .what = RD_ROLLED_VAR };

        part[p] = build(&of, x->in[p], &of_parts);
    }
    rd_expr *y = rd_map_op(RD_OP_add, r->call, 2, part);

    y = r->what == RD_ROLLED_STD ? rd_map_op(RD_OP_sqrt, r->call, 1, &y) : y;
    return y && o->type ? rd_cast_to(y, o->type) : y;
}

/* ---- By name --------------------------------------------------------------------------------- */
static const struct {
    const char *name, *call;
    rd_rolled   what;
} rows[] = {
    { "sum", "rd_rolling_sum", RD_ROLLED_SUM }, { "mean", "rd_rolling_mean", RD_ROLLED_MEAN },
    { "min", "rd_rolling_min", RD_ROLLED_MIN }, { "max", "rd_rolling_max", RD_ROLLED_MAX },
    { "var", "rd_rolling_var", RD_ROLLED_VAR }, { "std", "rd_rolling_std", RD_ROLLED_STD },
};

static bool find_row(rd_rolling *r, const rd_expr *x, const char *reducer)
{
    for (size_t k = 0; reducer && k < sizeof rows / sizeof *rows; k++)
        if (!strcmp(rows[k].name, reducer)) {
            r->call = rows[k].call;
            r->what = rows[k].what;
            return true;
        }
    rd_fail(x->ctx, RD_ERR_TEXT,
            "rd_rolling_name: no rolling reduction is called \"%.40s\"; there are sum, mean, min, "
            "max, var, std",
            reducer ? reducer : "NULL");
    return false;
}

/* A copy with every field that this release knows; false after recording what is wrong. */
static bool read_opts(const rd_rolling *r, const rd_expr *x, const rd_rolling_opts *opts,
                      rd_rolling_opts *o)
{
    memset(o, 0, sizeof *o);
    if (!opts) {
        rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: the options are NULL", r->call);
        return false;
    }
    memcpy(o, opts, opts->size && opts->size < sizeof *o ? opts->size : sizeof *o);
    if (o->ddof != 0 && r->what < RD_ROLLED_VAR)
        rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: .ddof is not taken here", r->call);
    else if (o->type && !rd_dtype_ok(o->type))
        rd_fail(x->ctx, RD_ERR_TYPE, "%s: .type is %d, not a type of this release", r->call,
                (int)o->type);
    else
        return true;
    return false;
}

rd_expr *rd_rolling_name(rd_expr *x, const char *reducer, const rd_rolling_opts *opts)
{
    rd_rolling      r = { .call = "rd_rolling_name" };
    rd_rolling_opts o;

    if (!rd_operands(r.call, 1, &x) || !find_row(&r, x, reducer) || !read_opts(&r, x, opts, &o))
        return NULL;
    if (rd_is_complex(x) && r.what >= RD_ROLLED_VAR)
        return complex_variance(&r, x, &o);
    return build(&r, x, &o);
}

/* ---- Public functions ------------------------------------------------------------------------ */
rd_expr *(rd_rolling_min)(rd_expr *x, int axis, int64_t n)
{
    return rd_rolling_min(x, axis, n);
}

rd_expr *(rd_rolling_max)(rd_expr *x, int axis, int64_t n)
{
    return rd_rolling_max(x, axis, n);
}

rd_expr *(rd_rolling_sum)(rd_expr *x, int axis, int64_t n)
{
    return rd_rolling_sum(x, axis, n);
}

rd_expr *(rd_rolling_mean)(rd_expr *x, int axis, int64_t n)
{
    return rd_rolling_mean(x, axis, n);
}

rd_expr *(rd_rolling_var)(rd_expr *x, int axis, int64_t n, double ddof)
{
    return rd_rolling_var(x, axis, n, ddof);
}

rd_expr *(rd_rolling_std)(rd_expr *x, int axis, int64_t n, double ddof)
{
    return rd_rolling_std(x, axis, n, ddof);
}
