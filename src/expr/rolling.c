/* rolling.c - rolling reductions: a reduction of each window of n adjacent elements along an
 * axis.  This file chooses the strategy.
 *
 * Windows along memory are built from shorter windows (rolling_levels.c).  Long windows take two
 * scans (rolling_scans.c).  Short windows across memory are folds of their own.
 *
 * Words. An expression is real if it is not complex. */
#include "expr/origin.h"
#include "expr/rolling.h"
#include <stdlib.h>
#include <string.h>

enum {
    FEW       = 4,       /* windows of up to so many neighbours need no loop */
    LONG      = 4096,    /* longer windows along memory are scanned */
    PARTS     = 48,      /* longer windows across memory are scanned */
    SHORT     = 17,      /* shorter windows across memory are folds, if caches allow it: */
    SHORT_FAR = 12,      /* even shorter ones always are */
    FAR       = 1 << 14, /* bytes of a window's rows that fit in a first-level cache */
    HELD      = 2048,    /* up to so many windows, a second-level cache holds all rows */
    SHORT_VAR = 17       /* variances of so many neighbours or more are scanned: faster */
};

/* Reduces each window of n neighbours by a fold of its own, over a view of all windows with one
 * more axis. */
static rd_expr *fold_each(const rd_rolling *r)
{
    return rd_rolling_finish(
        r, rd_rolling_total(r, rd_window(r->x, r->axis, r->n, /*step=*/1), RD_DIMS(-1)));
}

/* ---- Along memory or across ------------------------------------------------------------------ */
/* Fills in the stride of each axis of x in elements, as its data lie in memory: of a leaf, through
 * views, or of the first operand of a map whose strides are known.  Any other operand counts as C
 * order.  `depth` counts the maps above x, up to 8. */
static void find_strides(const rd_expr *x, int depth, int64_t *step)
{
    enum { DEEPEST = 8 };
    int64_t inner[RD_MAX_RANK] = { 0 };
    bool    known              = false;

    if (x->kind == RD_EXPR_LEAF) {
        memcpy(step, x->as.leaf->stride, (size_t)x->rank * sizeof *step);
        return;
    }
    if (x->kind == RD_EXPR_VIEW) { /* views do not nest, so the depth stays */
        find_strides(x->in[0], depth, inner);
        for (int k = 0; k < x->rank; k++) {
            step[k] = 0;
            for (int a = 0; a < x->in[0]->rank; a++)
                step[k] += inner[a] * x->as.view->number[x->in[0]->rank + a * x->rank + k];
        }
        return;
    }
    for (int i = 0; i < x->n_in && depth < DEEPEST && x->kind == RD_EXPR_MAP && !known; i++) {
        find_strides(x->in[i], depth + 1, step);
        for (int k = 0; k < x->rank; k++)
            known |= step[k] != 0;
    }
    if (!known)
        rd_dense_strides(x->rank, x->extent, 0, step);
}

/* Fills in the strides of x in elements; a complex x has those of its real part. */
static void find_strides_of(const rd_expr *x, int64_t *step)
{
    find_strides(x->kind == RD_EXPR_COMPLEX ? x->in[0] : x, /*depth=*/0, step);
}

/* True if no other axis of x has a smaller stride: neighbours along this axis are adjacent in
 * memory, or as close as any. */
bool rd_rolling_is_along(const rd_expr *x, int axis)
{
    int64_t step[RD_MAX_RANK] = { 0 };

    find_strides_of(x, step);
    for (int k = 0; k < x->rank; k++)
        if (k != axis && x->extent[k] > 1 && step[k] && llabs(step[k]) < llabs(step[axis]))
            return false;
    return true;
}

/* The bytes between neighbours along the axis: the size of an element times the extents of all axes
 * with a smaller stride. */
static double row_bytes(const rd_expr *x, int axis)
{
    int64_t step[RD_MAX_RANK] = { 0 };
    double  bytes             = (double)rd_dtype_size(x->type);

    find_strides_of(x, step);
    for (int k = 0; k < x->rank; k++)
        if (step[k] && llabs(step[k]) < llabs(step[axis]))
            bytes *= (double)x->extent[k];
    return bytes;
}

/* True if each window is to be reduced by a fold of its own: short windows of n neighbours across
 * memory.  How short depends on whether the rows of a window fit in a first-level cache (FAR), and,
 * with so few windows, all rows in the second-level one (HELD). */
bool rd_rolling_is_fold(const rd_expr *x, int axis, rd_rolled what, int64_t n, int64_t windows)
{
    if (rd_rolling_is_along(x, axis))
        return false;
    if (what >= RD_ROLLED_VAR)
        return n < SHORT_VAR;
    return n < SHORT_FAR ||
           (n < SHORT && (windows > HELD || (double)n * row_bytes(x, axis) <= FAR));
}

/* Chooses the strategy by which all windows of n neighbours are reduced.  `along`: neighbours are
 * adjacent in memory.  Otherwise they lie in other rows, and few of them are combined by maps of
 * whole rows.  `spare`: the rank leaves room for an axis of windows. r->careful forbids scans,
 * whose squares would cancel. */
rd_expr *rd_rolling_reduced(rd_rolling *r)
{
    const int  axis = r->axis, last = r->x->rank - 1;
    const bool along = rd_rolling_is_along(r->x, axis), spare = last + 1 < RD_MAX_RANK;

    r->wide = r->x->type; /* type of the sums, although x may become narrower */
    if (!along && r->n <= FEW)
        return rd_rolling_by_rows(r, axis);
    /* short windows that go across memory: each is reduced on its own */
    if (spare && rd_rolling_is_fold(r->x, axis, r->what, r->n, r->x->extent[axis] - r->n + 1))
        return fold_each(r);
    if (!along && spare && (r->careful || (r->n <= PARTS && r->what < RD_ROLLED_VAR)))
        return rd_rolling_by_parts(r);
    if (spare && !r->careful && (!along || r->n > LONG))
        return rd_rolling_by_scans(r);
    /* Rows along memory: the axis becomes the last one. */
    if (!(r->x = rd_move_axis(rd_rolling_narrowed(r), axis, last)))
        return NULL;
    return rd_move_axis(rd_rolling_by_rows(r, last), last, axis);
}

/* ---- Operands -------------------------------------------------------------------------------- */
/* Checks the operand, axis and size of windows, and fills in `r`.  False after recording what is
 * wrong. */
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
    r->x    = rd_cast_to(x, x->type); /* a weak number becomes strong */
    return r->x != NULL;
}

/* Sets the type of results, `asked` or `natural` (what it is without .type), and casts r->x to the
 * type of the computation, which holds both: f32 for `sums` of narrow floats.  If `asked` is
 * complex and elements are real, its part's type counts until the end.  False after recording what
 * is wrong. */
static bool set_types(rd_rolling *r, rd_dtype natural, rd_dtype asked, bool sums)
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
    sums |= rd_dtype_lacks_infinity(type); /* extremes begin at infinities, too */
    r->x = rd_cast_to(r->x, sums && rd_dtype_is_narrow_float(type) ? RD_F32 : type);
    return r->x != NULL;
}

/* The type of results if the caller asks for none: sums have that of rd_sum(), means and variances
 * are floats, extremes keep theirs. */
static rd_dtype natural_type(const rd_rolling *r)
{
    const rd_kind kind = rd_dtype_kind(r->x->type);

    if (r->what == RD_ROLLED_MIN || r->what == RD_ROLLED_MAX)
        return r->x->type;
    if (r->what != RD_ROLLED_SUM && kind != RD_KIND_FLOAT && kind != RD_KIND_COMPLEX)
        return RD_F64;
    return rd_type_of(rd_sum(r->x, RD_DIMS(r->axis)));
}

/* Makes a rolling reduction of x: checks, chooses types and reduces.  If no window fits in the
 * axis, the result has no element. */
static rd_expr *build(rd_rolling *r, rd_expr *x, const rd_rolling_opts *o)
{
    const bool sums = r->what != RD_ROLLED_MIN && r->what != RD_ROLLED_MAX;

    if (!begin(r, x, o) || !set_types(r, natural_type(r), o->type, sums))
        return NULL;
    if (r->n > r->x->extent[r->axis]) /* no window fits */
        return rd_cast_to(rd_slice_places(r->x, r->axis, 0, /*stop=*/0, 1), r->type);
    return rd_rolling_reduced(r);
}

/* Makes the rolling variance of complex elements, the sum of both parts' variances, or its root,
 * the deviation. */
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
/* The names of rolling reductions, and the public calls that messages name. */
static const struct {
    const char *name, *call;
    rd_rolled   what;
} rows[] = {
    { "sum", "rd_rolling_sum", RD_ROLLED_SUM }, { "mean", "rd_rolling_mean", RD_ROLLED_MEAN },
    { "min", "rd_rolling_min", RD_ROLLED_MIN }, { "max", "rd_rolling_max", RD_ROLLED_MAX },
    { "var", "rd_rolling_var", RD_ROLLED_VAR }, { "std", "rd_rolling_std", RD_ROLLED_STD },
};

/* Fills in the public call (for messages) and the reducer by name.  False after recording that
 * there is none of that name. */
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

/* Copies the caller's options to *o; a struct of an older release is shorter (size), and the fields
 * that it lacks are 0.  False after recording what is wrong. */
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

/* Reduces all windows of n neighbours along an axis by a reduction's name: the public call. */
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
/* The functions without keywords.  Their names are in parentheses, as macros of these names take
 * keywords. */
rd_expr *(rd_rolling_min)(rd_expr *x, int axis, int64_t n)
{
    return rd_rolling_min(x, axis, n);
}

/* The function of the rolling maximum, without keywords. */
rd_expr *(rd_rolling_max)(rd_expr *x, int axis, int64_t n)
{
    return rd_rolling_max(x, axis, n);
}

/* The function of the rolling sum, without keywords. */
rd_expr *(rd_rolling_sum)(rd_expr *x, int axis, int64_t n)
{
    return rd_rolling_sum(x, axis, n);
}

/* The function of the rolling mean, without keywords. */
rd_expr *(rd_rolling_mean)(rd_expr *x, int axis, int64_t n)
{
    return rd_rolling_mean(x, axis, n);
}

/* The function of the rolling variance, without keywords. */
rd_expr *(rd_rolling_var)(rd_expr *x, int axis, int64_t n, double ddof)
{
    return rd_rolling_var(x, axis, n, ddof);
}

/* The function of the rolling standard deviation, without keywords. */
rd_expr *(rd_rolling_std)(rd_expr *x, int axis, int64_t n, double ddof)
{
    return rd_rolling_std(x, axis, n, ddof);
}
