/* reduce.c - what every reduction and scan has in common: keywords, axes, masks, and the node. */
#include "expr/reduce.h"
#include <string.h>

/* A copy with every field this release knows; 0 as size means all of release 1. */
static rd_reduce_opts whole_opts(const rd_reduce_opts *opts)
{
    rd_reduce_opts whole;
    size_t         size = opts->size && opts->size < sizeof whole ? opts->size : sizeof whole;

    memset(&whole, 0, sizeof whole);
    memcpy(&whole, opts, size);
    return whole;
}

/* The keyword that was given though the reducer does not take it, or NULL. */
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
        { ".accuracy = RD_COMPENSATED", RD_TAKES_COMP, o->accuracy == RD_COMPENSATED },
        { ".accuracy = RD_WIDE", RD_TAKES_WIDE, o->accuracy == RD_WIDE },
    };

    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (keywords[i].given && !(takes & keywords[i].flag))
            return keywords[i].name;
    return NULL;
}

static bool opts_ok(const rd_folding *f, unsigned takes)
{
    rd_ctx     *ctx  = f->x->ctx;
    const char *name = refused(&f->opts, takes);

    if (name)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: %s is not taken here", f->call, name);
    else if ((unsigned)f->opts.accuracy > RD_SERIAL)
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: .accuracy is %d, not one of enum rd_accuracy", f->call,
                (int)f->opts.accuracy);
    else if (f->opts.type && !rd_dtype_ok(f->opts.type))
        rd_fail(ctx, RD_ERR_TYPE, "%s: .type is %s, not a type of this release", f->call,
                rd_dtype_name(f->opts.type));
    else
        return true;
    return false;
}

static bool same_ctx(const rd_folding *f)
{
    rd_expr *const all[] = { f->x, f->opts.where, f->opts.initial, f->opts.weights };
    rd_expr       *given[4];
    int            n = 0;

    for (int i = 0; i < 4; i++)
        if (all[i])
            given[n++] = all[i];
    return rd_same_ctx(f->call, n, given);
}

static bool find_axes(rd_folding *f)
{
    const rd_dims *dims = &f->opts.dims;

    if (f->scan && (dims->n != 1 || dims->flags & RD_DIMS_EXCEPT)) {
        rd_fail(f->x->ctx, RD_ERR_AXIS, "%s: a scan runs along one axis, as in RD_DIMS(0)",
                f->call);
        return false;
    }
    return rd_dims_bits(f->x, dims, f->call, &f->bits);
}

rd_expr *rd_folding_beside(const rd_folding *f, rd_expr *y, rd_dtype type)
{
    y = rd_cast_to(y, type);
    return y ? rd_broadcast_to(y, f->x->rank, f->x->extent, f->call) : NULL;
}

/* .where and .skip_nan become one mask. */
static bool find_mask(rd_folding *f)
{
    rd_expr *number;

    if (f->opts.where && !(f->where = rd_folding_beside(f, f->opts.where, RD_BOOL)))
        return false;
    if (!f->opts.skip_nan || rd_dtype_kind(f->x->type) != RD_KIND_FLOAT)
        return true;
    number   = rd_map_op(RD_OP_isnan, f->call, 1, &f->x);
    number   = rd_map_op(RD_OP_not, f->call, 1, &number);
    f->where = f->where ? rd_map_op(RD_OP_and, f->call, 2, (rd_expr *const[]){ f->where, number })
                        : number;
    return f->where != NULL;
}

bool rd_folding_begin(rd_folding *f, const rd_reduce_opts *opts, unsigned takes)
{
    if (!f->x)
        return false;
    if (!opts) {
        rd_fail(f->x->ctx, RD_ERR_ARGUMENT, "%s: the options are NULL", f->call);
        return false;
    }
    f->opts = whole_opts(opts);
    f->x    = rd_cast_to(f->x, f->x->type); /* a number alone is strong from here on */
    return f->x && opts_ok(f, takes) && same_ctx(f) && find_axes(f) && find_mask(f);
}

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

/* A reduction's result with the reduced axes of x put back as extents 1; `y` may have more axes
 * after them. */
static rd_expr *put_back(const rd_folding *f, rd_expr *y)
{
    int     rank = f->x->rank + (y->rank - (f->x->rank - __builtin_popcountll(f->bits))), k = 0;
    int64_t extent[RD_MAX_RANK], number[RD_MAX_RANK + RD_MAX_RANK * RD_MAX_RANK];

    memset(number, 0, sizeof number);
    for (int a = 0; a < rank; a++)
        if (a < f->x->rank && f->bits >> a & 1) {
            extent[a] = 1;
        } else {
            extent[a]                        = y->extent[k];
            number[y->rank + k++ * rank + a] = 1;
        }
    return rd_view(y, rank, extent, number);
}

/* The shape of a fold of x, without kept axes; its rank, or -1 after recording that it is too
 * large. */
static int result_shape(const rd_folding *f, const rd_expr *x, int n_out,
                        int64_t extent[RD_MAX_RANK + 1])
{
    bool keep = f->opts.dims.flags & RD_DIMS_KEEP && !f->scan;
    int  rank = 0;

    for (int a = 0; a < x->rank; a++)
        if (f->scan || !(f->bits >> a & 1))
            extent[rank++] = x->extent[a];
    if (n_out > 1)
        extent[rank++] = n_out;
    if (rank + (keep ? __builtin_popcountll(f->bits) : 0) <= RD_MAX_RANK &&
        rd_points(rank, extent) >= 0)
        return rank;
    rd_fail(x->ctx, RD_ERR_SHAPE, "%s: the result has more than %d axes, or its size overflows",
            f->call, RD_MAX_RANK);
    return -1;
}

rd_expr *rd_folding_node(const rd_folding *f, rd_expr *x, rd_expr *weights, rd_dtype type,
                         rd_fold_facts *facts)
{
    rd_expr *const in[] = { x, weights, f->where };
    int64_t        extent[RD_MAX_RANK + 1];
    int            rank = x ? result_shape(f, x, facts->user ? facts->user->n_out : 1, extent) : -1;

    if (rank < 0)
        return NULL;
    facts->dims = f->bits;
    if (f->scan) {
        facts->exclusive = f->opts.exclusive;
        facts->reverse   = f->opts.reverse;
    }
    rd_expr *y = rd_node(&(rd_expr){ .ctx    = x->ctx,
                                     .kind   = f->scan ? RD_EXPR_SCAN : RD_EXPR_REDUCE,
                                     .type   = type,
                                     .rank   = rank,
                                     .n_in   = 3,
                                     .extent = extent,
                                     .in     = in },
                         facts, sizeof *facts);
    return y && !f->scan && f->opts.dims.flags & RD_DIMS_KEEP ? put_back(f, y) : y;
}
