/* quantiles_weighted.c - weighted quantiles: the first element in order at which the running sum
 * of weights reaches q of the total, as NumPy's inverted_cdf. */
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/quantiles.h"
#include <math.h>

/* Sorted rows, and beside each element the running sum of weights divided by the total. */
typedef struct weighted {
    const char *call;   /* for failures */
    rd_expr    *sorted; /* rows along the last axis */
    rd_expr    *part;   /* of the total weight: up to and with each element of `sorted` */
    rd_expr    *none;   /* by row: true if it has no quantile */
} weighted;

/* Reduces the last axis by name, and keeps it with extent 1; NULL given NULL. */
static rd_expr *reduce_rows(rd_expr *x, const char *reducer)
{
    return x ? rd_reduce_name(
                   x, reducer,
                   &(rd_reduce_opts){ .size = sizeof(rd_reduce_opts), .dims = RD_KEEP(-1) })
             : NULL;
}

/* The weights as rows (reduced axes as one last axis), f64: 0 where an element takes no part,
 * because of the mask, or as NaN with skip_nan. */
static rd_expr *weights_of(const rd_folding *f, rd_expr *weights, rd_expr *x, bool skip_nan)
{
    rd_expr *const zero = rd_num(x->ctx, 0);
    rd_expr       *w    = rd_folding_beside(f, weights, RD_F64);

    if (f->where)
        w = map_where(f->call, f->where, w, zero);
    if (skip_nan)
        w = map_where(f->call, map_1(RD_OP_isnan, f->call, f->x), zero, w);
    return w ? rd_folding_rows(f, w) : NULL;
}

/* True for each row that has no quantile, because its total weight is not finite or not above 0, a
 * weight is negative, or a NaN takes part (with a weight other than 0). */
static rd_expr *has_no_quantile(const weighted *z, rd_expr *rows, rd_expr *w, rd_expr *total)
{
    rd_ctx *const  ctx      = rows->ctx;
    rd_expr *const zero     = rd_num(ctx, 0);
    rd_expr *const is_valid = map_2(RD_OP_and, z->call, map_2(RD_OP_gt, z->call, total, zero),
                                    map_1(RD_OP_isfinite, z->call, total));
    rd_expr *const bad      = map_2(RD_OP_or, z->call, map_2(RD_OP_lt, z->call, w, zero),
                                    map_2(RD_OP_and, z->call, map_1(RD_OP_isnan, z->call, rows),
                                          map_2(RD_OP_ne, z->call, w, zero)));

    return map_2(RD_OP_or, z->call, map_1(RD_OP_not, z->call, is_valid), reduce_rows(bad, "any"));
}

/* Sorts the rows, and the weights alike, and fills in `z`: sorted elements, their running sum of
 * weights over the total, and which rows have no quantile.  False after a failure. */
static bool sort_rows(weighted *z, rd_expr *rows, rd_expr *w)
{
    const int      last    = rows->rank - 1;
    rd_expr *const order   = rd_argsort(rows, last);
    rd_expr *const weights = order ? rd_take_places_along(w, last, order) : NULL;
    rd_expr *const sums    = weights ? rd_scan(weights, "sum", RD_DIMS(-1)) : NULL;
    rd_expr *const total   = sums ? rd_slice_places(sums, last, -1, RD_OPEN, 1) : NULL;

    z->sorted = order ? rd_take_places_along(rows, last, order) : NULL;
    z->part   = map_2(RD_OP_div, z->call, sums, total);
    z->none   = total ? has_no_quantile(z, rows, w, total) : NULL;
    return z->sorted && z->part && z->none;
}

/* One quantile of each row, along a last axis of extent 1: the first element at which the running
 * sum of weights is q of the total or more.  The elements before it are counted.  Those of weight 0
 * at the beginning are skipped, even if q is 0. */
static rd_expr *one_quantile(const weighted *z, double q)
{
    rd_ctx *const  ctx  = z->sorted->ctx;
    const int      last = z->sorted->rank - 1;
    rd_expr *const before =
        map_2(RD_OP_or, z->call, map_2(RD_OP_lt, z->call, z->part, rd_num(ctx, q)),
              map_2(RD_OP_eq, z->call, z->part, rd_num(ctx, 0)));
    rd_expr *place = reduce_rows(before, "sum");

    place = map_2(RD_OP_minimum, z->call, place, rd_int(ctx, z->sorted->extent[last] - 1));
    rd_expr *const y = place ? rd_take_places_along(z->sorted, last, place) : NULL;

    return y ? map_where(z->call, z->none, rd_num(ctx, NAN), y) : NULL;
}

/* All weighted quantiles q of each row: one expression for each q, joined along the last axis.
 * Empty rows have NaN. q + 0 makes 0 of -0.  Without any q the last axis is empty. */
rd_expr *rd_quantiles_weighted(const rd_folding *f, rd_expr *weights, bool skip_nan, rd_dtype type,
                               rd_qs q)
{
    weighted       z    = { .call = f->call };
    rd_expr *const x    = rd_cast_to(f->x, type);
    rd_expr *const rows = x ? rd_folding_rows(f, x) : NULL;
    rd_expr *const w    = rows ? weights_of(f, weights, x, skip_nan) : NULL;
    rd_expr       *y    = NULL;

    if (!w)
        return NULL;
    const bool empty   = rows->extent[rows->rank - 1] == 0;
    rd_expr   *nothing = rd_number(x->ctx, type, rd_word_from_double(NAN, type));

    if (!empty && !sort_rows(&z, rows, w))
        return NULL;
    if (empty) {
        rd_shape shape = rd_shape_of(rows);

        shape.at[rows->rank - 1] = 1;
        nothing                  = nothing ? rd_broadcast(nothing, shape) : NULL;
    }
    for (int k = 0; k < q.n; k++) {
        rd_expr *const each = empty ? nothing : one_quantile(&z, q.at[k] + 0);

        if (!each)
            return NULL;
        y = k == 0 ? each : rd_concat(-1, RD_EXPRS(y, each));
    }
    if (q.n == 0)
        y = rd_slice_places(rows, rows->rank - 1, 0, 0, 1);
    return y ? rd_cast_to(y, type) : NULL;
}
