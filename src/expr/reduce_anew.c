/* reduce_anew.c - scans that begin anew at some elements: by reducers whose state says whether it
 * has begun anew, and whose weights say where. */
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/reduce.h"
#include <math.h>
#include <string.h>

static rd_expr *refuse(const rd_folding *f, const char *what)
{
    return rd_fail(f->x->ctx, RD_ERR_ARGUMENT, "%s: %s", f->call, what);
}

static rd_expr *node(const rd_folding *f, rd_reducer_id twin, rd_expr *x)
{
    rd_expr *const anew = rd_cast_to(f->restart, x->type);
    rd_fold_facts  facts;

    memset(&facts, 0, sizeof facts);
    facts.reducer = (int32_t)twin;
    facts.law     = f->opts.accuracy == RD_SERIAL ? RD_LAW_serial : rd_reducer_table[twin].law;
    return anew ? rd_folding_node(f, x, anew, x->type, &facts) : NULL;
}

/* What is before an element is nothing where the scan begins anew with it. */
static rd_expr *total(const rd_folding *f, rd_reducer_id twin, rd_expr *x, int64_t nothing)
{
    rd_expr *y = node(f, twin, x);

    return f->opts.exclusive ? map_where(f->call, f->restart, rd_int(x->ctx, nothing), y) : y;
}

/* How many elements are true, or not. */
static rd_expr *how_many(const rd_folding *f, rd_expr *x)
{
    return total(f, RD_RED_sum_anew, rd_cast_to(x, RD_I64), 0);
}

/* Where an exclusive scan has nothing before an element: at its first one, and where it begins anew. */
static rd_expr *nothing_before(const rd_folding *f)
{
    const int      axis = __builtin_ctzll(f->bits);
    const int64_t  n    = f->x->extent[axis];
    rd_expr *const zero = rd_int(f->x->ctx, f->opts.reverse && n > 0 ? n - 1 : 0);

    return map_2(RD_OP_or, f->call, f->restart,
                 map_2(RD_OP_eq, f->call, rd_places(f->x, axis), zero));
}

/* What is left out becomes the value that any element replaces, and so does what is before an element
 * with which the scan begins anew.  Where there was no other element that stays, if `identity` says
 * that somebody takes it, and else becomes NaN. */
static rd_expr *extreme(const rd_folding *f, rd_reducer_id twin, rd_expr *x, bool identity)
{
    const rd_word word = rd_word_end(x->type, twin == RD_RED_min_anew);
    rd_folding    all  = *f;
    rd_expr      *y, *none, *some;

    if (!f->where && !f->opts.exclusive)
        return node(f, twin, x);
    none      = rd_number(x->ctx, x->type, word);
    all.where = NULL;
    y         = f->where ? map_where(f->call, f->where, x, none) : x;
    y         = y ? node(&all, twin, y) : NULL;
    if (f->opts.exclusive)
        y = map_where(f->call, nothing_before(f), none, y);
    if (identity || !f->where || rd_dtype_kind(x->type) != RD_KIND_FLOAT)
        return y;
    some = map_2(RD_OP_ne, f->call, how_many(&all, f->where), rd_int(x->ctx, 0));
    return map_where(f->call, some, y, rd_cast_to(rd_num(x->ctx, NAN), x->type));
}

rd_expr *rd_folded_anew(const rd_folding *f, rd_reducer_id reducer, rd_expr *x, bool identity)
{
    if (!x)
        return NULL;
    switch (reducer) {
    case RD_RED_sum: return total(f, RD_RED_sum_anew, x, 0);
    case RD_RED_prod: return total(f, RD_RED_prod_anew, x, 1);
    case RD_RED_min: return extreme(f, RD_RED_min_anew, x, identity);
    case RD_RED_max: return extreme(f, RD_RED_max_anew, x, identity);
    case RD_RED_any: return map_2(RD_OP_ne, f->call, how_many(f, x), rd_int(x->ctx, 0));
    case RD_RED_all:
        return map_2(RD_OP_eq, f->call, how_many(f, map_1(RD_OP_not, f->call, x)),
                     rd_int(x->ctx, 0));
    default:
        return refuse(f, ".restart goes with sum, prod, min, max, mean, count, any, all and norm");
    }
}
