/* reduce.c - the common part of all reductions and scans: keywords, axes, masks, and the node.  A
 * *folding* (rd_folding) is a reduction or scan while it is built.  Bit a of its `bits` says that
 * axis a of x is reduced; all other axes are *kept*.
 *
 * Words. The origin of an axis is its first index, 0 unless the caller says another. */
#include "expr/origin.h"
#include "expr/reduce.h"
#include <string.h>

/* Copies the caller's options.  A struct of an older release is shorter (size), and the fields that
 * it lacks are 0; a size of 0 means that it has all fields. */
static rd_reduce_opts whole_opts(const rd_reduce_opts *opts)
{
    rd_reduce_opts whole;
    size_t         size = opts->size && opts->size < sizeof whole ? opts->size : sizeof whole;

    memset(&whole, 0, sizeof whole);
    memcpy(&whole, opts, size);
    return whole;
}

/* The name of a keyword that was given although the reducer does not take it (its RD_TAKES_ bit is
 * not set); NULL: there is none. */
static const char *refused(const rd_reduce_opts *o, unsigned takes)
{
    const struct {
        const char *name;
        unsigned    flag;
        bool        given;
    } keywords[] = {
        { ".initial", RD_TAKES_INITIAL, o->initial != NULL },
        { ".weights", RD_TAKES_WEIGHTS, o->weights != NULL },
        { ".ddof", RD_TAKES_DDOF, o->ddof != 0 },
        { ".p", RD_TAKES_P, o->p != 0 },
        { ".exclusive", RD_TAKES_ORDER, o->exclusive },
        { ".reverse", RD_TAKES_ORDER, o->reverse },
        { ".restart", RD_TAKES_RESTART, o->restart != NULL },
        { ".accuracy = RD_COMPENSATED", RD_TAKES_COMP, o->accuracy == RD_COMPENSATED },
        { ".accuracy = RD_WIDE", RD_TAKES_WIDE, o->accuracy == RD_WIDE },
    };

    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (keywords[i].given && !(takes & keywords[i].flag))
            return keywords[i].name;
    return NULL;
}

/* True if the keywords fit the reducer (`takes`, RD_TAKES_ bits) and have valid values.  Scans take
 * no .by.  False after recording what is wrong. */
static bool opts_ok(const rd_folding *f, unsigned takes)
{
    rd_ctx     *ctx  = f->x->ctx;
    const char *name = refused(&f->opts, takes);

    if (!name && f->scan && (f->opts.by.n || f->opts.groups.n))
        name = ".by";
    if (name)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %s is not taken here", f->call, name);
    else if ((unsigned)f->opts.accuracy > RD_SERIAL)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: .accuracy is %d, not one of enum rd_accuracy", f->call,
                (int)f->opts.accuracy);
    else if (f->opts.type && !rd_dtype_ok(f->opts.type))
        rd_fail(ctx, RD_ERR_TYPE, "%s: .type is %d, not a type of this release", f->call,
                (int)f->opts.type);
    else
        return true;
    return false;
}

/* True if x and all operands in keywords belong to one context.  False after recording it. */
static bool have_same_ctx(const rd_folding *f)
{
    rd_expr *const operands[] = { f->x, f->opts.where, f->opts.initial, f->opts.weights,
                                  f->opts.restart };
    rd_expr       *given[5];
    int            n = 0;

    for (int i = 0; i < 5; i++)
        if (operands[i])
            given[n++] = operands[i];
    return rd_same_ctx(f->call, n, given);
}

/* Fills in f->bits, the set of reduced axes; a scan has one.  False after recording what is
 * wrong. */
static bool find_axes(rd_folding *f)
{
    const rd_dims *dims = &f->opts.dims;
    const bool     one  = dims->n == 1 && !(dims->flags & RD_DIMS_EXCEPT);

    if (f->scan && !one && dims->n >= 0 && dims->n <= RD_MAX_RANK) {
        rd_fail(f->x->ctx, RD_ERR_AXIS, "%s: a scan runs along one axis, as in RD_DIMS(0)",
                f->call);
        return false;
    }
    return rd_dims_bits(f->x, dims, f->call, &f->bits);
}

/* Casts y, an operand beside x (a mask, weights, labels), to `type`, and broadcasts it to x's
 * shape.  NULL after recording that shapes or origins (first indices of axes) differ. */
rd_expr *rd_folding_beside(const rd_folding *f, rd_expr *y, rd_dtype type)
{
    y = rd_cast_to(y, type);
    if (!y || !rd_ranges_meet(f->call, 2, (rd_expr *const[]){ f->x, y }))
        return NULL;
    y = rd_broadcast_to(y, f->x->rank, f->x->extent, f->call);
    return rd_with_origins(y, f->x->origin); /* an axis along which y was broadcast had no origin */
}

/* Combines .where and .skip_nan into one mask, f->where; NULL there: all elements take part.  False
 * after a failure. */
static bool find_mask(rd_folding *f)
{
    rd_expr *is_number;

    if (f->opts.where && !(f->where = rd_folding_beside(f, f->opts.where, RD_BOOL)))
        return false;
    if (!f->opts.skip_nan || rd_dtype_kind(f->x->type) != RD_KIND_FLOAT)
        return true;
    is_number = rd_map_op(RD_OP_isnan, f->call, 1, &f->x);
    is_number = rd_map_op(RD_OP_not, f->call, 1, &is_number);
    f->where  = f->where
                    ? rd_map_op(RD_OP_and, f->call, 2, (rd_expr *const[]){ f->where, is_number })
                    : is_number;
    return f->where != NULL;
}

/* Broadcasts .restart, which says where segments of a scan begin, to x's shape.  False after a
 * failure. */
static bool find_restarts(rd_folding *f)
{
    if (f->opts.restart)
        f->restart = rd_folding_beside(f, f->opts.restart, RD_BOOL);
    return !f->opts.restart || f->restart;
}

/* Checks the keywords of a reduction or scan and fills in `f`; the caller has set call, scan and x.
 * `takes` has the RD_TAKES_ bits of keywords that the reducer takes.  Each step needs those before
 * it.  False after recording what is wrong. */
bool rd_folding_begin(rd_folding *f, const rd_reduce_opts *opts, unsigned takes)
{
    if (!f->x)
        return false;
    if (!opts) {
        rd_fail(f->x->ctx, RD_ERR_ARGUMENT, "%s: the options are NULL", f->call);
        return false;
    }
    f->opts = whole_opts(opts);
    f->type = f->opts.type;
    f->x    = rd_cast_to(f->x, f->x->type); /* a weak number becomes strong */
    if (!f->x || !opts_ok(f, takes))
        return false;
    /* the operand is real: reduce in the part's type, cast at the end */
    if (rd_dtype_is_complex(f->type))
        f->opts.type = rd_dtype_part(f->type);
    return have_same_ctx(f) && find_axes(f) && find_mask(f) && rd_folding_labels(f) &&
           find_restarts(f);
}

/* Reshapes x, which has the shape of f->x, to rows: the axes that are not reduced come first, then
 * the reduced axes as one, in C order.  All axes begin at 0 then.  NULL after recording that there
 * are too many axes. */
rd_expr *rd_folding_rows(const rd_folding *f, rd_expr *x)
{
    rd_index order = { .n = x->rank };
    rd_shape shape = { 0 };
    int64_t  n     = 1;
    int      k     = 0;

    for (int a = 0; a < x->rank; a++)
        if (!(f->bits >> a & 1)) {
            order.at[k++]       = a;
            shape.at[shape.n++] = x->extent[a];
        }
    for (int a = 0; a < x->rank; a++)
        if (f->bits >> a & 1) {
            order.at[k++] = a;
            n *= x->extent[a];
        }
    if (shape.n == RD_MAX_RANK)
        return rd_fail(x->ctx, RD_ERR_SHAPE, "%s: of no axis of an operand with %d", f->call,
                       RD_MAX_RANK);
    shape.at[shape.n++] = n;
    x                   = rd_permute(x, order);
    return x ? rd_with_origins(rd_reshape(x, shape), /*origin=*/NULL) : NULL;
}

/* Gives the axes of y that are not reduced, its first ones, the origins (first indices) that they
 * have in x. */
rd_expr *rd_folding_origins(const rd_folding *f, rd_expr *y)
{
    int64_t origin[RD_MAX_RANK] = { 0 };
    int     k                   = 0;

    if (!f->x->origin)
        return y;
    for (int a = 0; a < f->x->rank; a++)
        if (!(f->bits >> a & 1))
            origin[k++] = rd_origin(f->x, a);
    return rd_with_origins(y, origin);
}

/* Gives the axes of y that are not reduced their origins (first indices in x), and inserts the
 * reduced axes with extent 1 if the caller asked to keep them (RD_DIMS_KEEP). */
rd_expr *rd_folding_kept(const rd_folding *f, rd_expr *y)
{
    y = rd_folding_origins(f, y);
    for (int a = 0; y && f->opts.dims.flags & RD_DIMS_KEEP && a < f->x->rank; a++)
        if (f->bits >> a & 1)
            y = rd_expand(y, a);
    return y;
}

/* The number of elements of each result.  *any_result is false if there is no result at all, as an
 * axis that is not reduced is empty. */
int64_t rd_folding_extent(const rd_folding *f, bool *any_result)
{
    int64_t n   = 1;
    *any_result = true;

    for (int a = 0; a < f->x->rank; a++)
        if (f->bits >> a & 1)
            n *= f->x->extent[a];
        else if (!f->x->extent[a])
            *any_result = false;
    return n;
}

/* ---- The node -------------------------------------------------------------------------------- */
/* True if reduced axes stay in the result with extent 1 (RD_DIMS_KEEP); a scan reduces none. */
static bool keeps_axes(const rd_folding *f)
{
    return f->opts.dims.flags & RD_DIMS_KEEP && !f->scan;
}

/* Fills in from[] for each axis of the result which axis of the node it is; -1: a reduced axis kept
 * with extent 1.  Returns the number of axes.  The node has the axes not reduced, those of groups
 * (n_by), then a user's outputs.  In the result groups stand where the first reduced axis was. */
static int find_result_axes(const rd_folding *f, int rank, int from[2 * RD_MAX_RANK])
{
    const int kept = f->x->rank - __builtin_popcountll(f->bits), n_by = f->opts.by.n;
    int       n = 0, k = 0, placed = 0; /* result axes; node axes not reduced; axes of groups */

    for (int a = 0; a <= f->x->rank; a++) {
        if (a == f->x->rank || f->bits >> a & 1) {
            if (a < f->x->rank && keeps_axes(f) && (placed || !n_by))
                from[n++] = -1;
            for (; placed < n_by; placed++)
                from[n++] = kept + placed;
        } else
            from[n++] = k++;
    }
    for (k = kept + n_by; k < rank; k++)
        from[n++] = k;
    return n;
}

/* Puts the axes of y where the caller expects them. y has the axes not reduced, all groups as one
 * axis, then others.  The axis of groups is first split into one axis for each label (n_by); then
 * one view orders the axes and inserts those kept with extent 1. */
rd_expr *rd_folding_as_seen(const rd_folding *f, rd_expr *y)
{
    if (!y)
        return NULL;

    const int kept = f->x->rank - __builtin_popcountll(f->bits), n_by = f->opts.by.n;
    int64_t   extent[RD_MAX_RANK], number[RD_MAX_RANK + RD_MAX_RANK * RD_MAX_RANK];
    int64_t   origin[RD_MAX_RANK];
    int       from[2 * RD_MAX_RANK], n;

    if (n_by > 1) {
        rd_shape shape = { .n = y->rank - 1 + n_by };

        memcpy(shape.at, y->extent, (size_t)kept * sizeof *shape.at);
        memcpy(shape.at + kept, f->opts.groups.at, (size_t)n_by * sizeof *shape.at);
        for (int a = kept + 1; a < y->rank; a++)
            shape.at[a - 1 + n_by] = y->extent[a];
        y = rd_reshape(y, shape);
    }
    if (!y)
        return NULL;
    n = find_result_axes(f, y->rank, from);
    memset(number, 0, sizeof number);
    for (int a = 0; a < n; a++) {
        extent[a] = from[a] < 0 ? 1 : y->extent[from[a]];
        origin[a] = from[a] < 0 ? 0 : rd_origin(y, from[a]);
        if (from[a] >= 0)
            number[y->rank + from[a] * n + a] = 1;
    }
    return rd_view(y, n, extent, number, origin);
}

/* Fills in the shape of the node of a fold of x: the axes not reduced (for a scan all), then one
 * axis of groups, then a user's n_out outputs.  Axes that RD_DIMS_KEEP asks for come later.
 * Returns its rank, or -1 after recording that it is too large. */
static int result_shape(const rd_folding *f, const rd_expr *x, int n_out,
                        int64_t extent[RD_MAX_RANK + 2])
{
    const int reduced = __builtin_popcountll(f->bits);
    int       rank    = 0;

    for (int a = 0; a < x->rank; a++)
        if (f->scan || !(f->bits >> a & 1))
            extent[rank++] = x->extent[a];
    if (f->label)
        extent[rank++] = f->n_group;
    if (n_out > 1)
        extent[rank++] = n_out;
    if (rank + f->opts.by.n + (keeps_axes(f) ? reduced : 0) <= RD_MAX_RANK &&
        rd_points(rank, extent) >= 0)
        return rank;
    rd_fail(x->ctx, RD_ERR_SHAPE, "%s: the result has more than %d axes, or its size overflows",
            f->call, RD_MAX_RANK);
    return -1;
}

/* Finds what is known of the labels' order, if they come from the coordinates of a sparse array.
 * It looks through views, casts, and sums and products of label numbers.  Labels that are an
 * ascending leaf with begins for n_group rows are RD_PATTERN_ROWS; combined ones at most
 * RD_PATTERN_APART: adjacent ones differ. */
static rd_pattern pattern_of_label(const rd_expr *label, int64_t n_group)
{
    bool itself = true; /* true until a label is combined with others into one number */

    while (label->kind == RD_EXPR_VIEW || label->kind == RD_EXPR_RESHAPE ||
           (label->kind == RD_EXPR_MAP &&
            (label->op == RD_OP_cast || label->op == RD_OP_add || label->op == RD_OP_mul))) {
        itself &= label->kind != RD_EXPR_MAP || label->op == RD_OP_cast;
        label = label->in[0];
    }
    if (itself && n_group <= label->ascends)
        return RD_PATTERN_ROWS;
    return itself || !label->of_pattern ? label->of_pattern : RD_PATTERN_APART;
}

/* Makes the REDUCE or SCAN node of x, which has the shape of f->x and the accumulator's type, and
 * puts its axes where the caller expects them.  It completes `facts` with the reduced axes and a
 * scan's order. */
rd_expr *rd_folding_node(const rd_folding *f, rd_expr *x, rd_expr *weights, rd_dtype type,
                         rd_fold_facts *facts)
{
    rd_expr *const in[] = { x, weights, f->where, f->label };
    int64_t        extent[RD_MAX_RANK + 2];
    int            rank = x ? result_shape(f, x, facts->user ? facts->user->n_out : 1, extent) : -1;

    if (rank < 0)
        return NULL;
    facts->dims       = f->bits;
    facts->of_pattern = f->label ? pattern_of_label(f->label, f->n_group) : 0;
    if (f->scan) {
        facts->exclusive = f->opts.exclusive;
        facts->reverse   = f->opts.reverse;
    }
    rd_expr *y = rd_node(&(rd_expr){ .ctx    = x->ctx,
                                     .kind   = f->scan ? RD_EXPR_SCAN : RD_EXPR_REDUCE,
                                     .type   = type,
                                     .rank   = rank,
                                     .n_in   = f->label ? 4 : 3,
                                     .extent = extent,
                                     .in     = in },
                         facts, sizeof *facts);
    return y && (keeps_axes(f) || f->label) ? rd_folding_as_seen(f, y) : y;
}
