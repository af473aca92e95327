/* quantiles.c - quantiles by label: elements are sorted within their groups, and each quantile
 * is read or interpolated between two of them. core/sort_facts.h states the same rules for a
 * whole row. */
#include "expr/quantiles.h"
#include "expr/grouped.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include <math.h>

/* A call, and the sizes of its groups as f64, from which positions are computed. */
typedef struct grouped_call {
    const char *call; /* for failures */
    rd_ctx     *ctx;
    rd_expr    *n; /* elements of each group */
} grouped_call;

/* A constant of f64 and rank 0. */
static rd_expr *number(const grouped_call *l, double x)
{
    return rd_number(l->ctx, RD_F64, rd_word_from_double(x, RD_F64));
}

/* x + y, for a number y. */
static rd_expr *add(const grouped_call *l, rd_expr *x, double y)
{
    return map_2(RD_OP_add, l->call, x, number(l, y));
}

/* x * y, for a number y. */
static rd_expr *times(const grouped_call *l, rd_expr *x, double y)
{
    return map_2(RD_OP_mul, l->call, x, number(l, y));
}

/* Applies a rounding operator to x: floor, ceil or round (to even). */
static rd_expr *rounded(const grouped_call *l, rd_op op, rd_expr *x)
{
    return map_1(op, l->call, x);
}

/* The fractional position of quantile q in each group of n sorted elements, before it is clipped to
 * the group: q (n - 1) for RD_LINEAR.  Hyndman and Fan (1996) describe the methods, the last of
 * which are lines q n + constant. rd_quantile_at() has the same formulas for a whole row. */
static rd_expr *position(const grouped_call *l, rd_quantile_method method, double q)
{
    static const double lines[][2] = { RD_QUANTILE_LINES };
    rd_expr *const at = times(l, add(l, l->n, -1), q), *const cdf = times(l, l->n, q);
    rd_expr *const behind = add(l, rounded(l, RD_OP_ceil, cdf), -1);

    switch (method) {
    case RD_LINEAR: return at;
    case RD_LOWER: return rounded(l, RD_OP_floor, at);
    case RD_HIGHER: return rounded(l, RD_OP_ceil, at);
    case RD_NEAREST: return rounded(l, RD_OP_round, at);
    case RD_MIDPOINT:
        return times(
            l, map_2(RD_OP_add, l->call, rounded(l, RD_OP_floor, at), rounded(l, RD_OP_ceil, at)),
            0.5);
    case RD_INVERTED_CDF: return behind;
    case RD_AVERAGED_CDF:
        return map_where(l->call, map_2(RD_OP_eq, l->call, cdf, rounded(l, RD_OP_floor, cdf)),
                         add(l, cdf, -0.5), behind);
    case RD_CLOSEST: return add(l, rounded(l, RD_OP_round, cdf), -1);
    default: {
        const double alpha = lines[method][0], beta = lines[method][1];

        return add(l, add(l, cdf, alpha + q * (1 - alpha - beta)), -1);
    }
    }
}

/* low + between * (high - low), where `between` is from 0 to 1, computed from the nearer end so
 * that both ends are exact. */
static rd_expr *interpolate_from_nearer(const grouped_call *l, rd_expr *low, rd_expr *high,
                                        rd_expr *between)
{
    rd_expr *const difference = map_2(RD_OP_sub, l->call, high, low);
    rd_expr *const left       = map_2(RD_OP_sub, l->call, number(l, 1), between);
    rd_expr *const from_low   = map_2(RD_OP_mul, l->call, difference, between);
    rd_expr *const from_high  = map_2(RD_OP_mul, l->call, difference, left);

    return map_where(l->call, map_2(RD_OP_lt, l->call, between, number(l, 0.5)),
                     map_2(RD_OP_add, l->call, low, from_low),
                     map_2(RD_OP_sub, l->call, high, from_high));
}

/* The mean of low and high, given their sum: 0.5 * sum, rounded once.  Where the sum overflows, 0.5
 * * low + 0.5 * high does not. */
static rd_expr *mean_of_two(const grouped_call *l, rd_expr *low, rd_expr *high, rd_expr *sum)
{
    rd_expr *const halves = map_2(RD_OP_add, l->call, times(l, low, 0.5), times(l, high, 0.5));

    return map_where(l->call, map_1(RD_OP_isinf, l->call, sum), halves, times(l, sum, 0.5));
}

/* Interpolates between two elements of each group: low + between * (high - low).  Equal ends and
 * `between` 0 give low itself.  If high - low overflows, it is computed of halves.  If one end is
 * infinite, the result is their sum. */
static rd_expr *interpolate(const grouped_call *l, rd_expr *low, rd_expr *high, rd_expr *between)
{
    rd_expr *const difference = map_2(RD_OP_sub, l->call, high, low);
    rd_expr *const sum        = map_2(RD_OP_add, l->call, low, high);
    rd_expr *const halved =
        times(l, interpolate_from_nearer(l, times(l, low, 0.5), times(l, high, 0.5), between), 2);
    rd_expr *const infinite = map_2(RD_OP_or, l->call, map_1(RD_OP_isinf, l->call, low),
                                    map_1(RD_OP_isinf, l->call, high));
    rd_expr *const exact    = map_2(RD_OP_or, l->call, map_2(RD_OP_eq, l->call, low, high),
                                    map_2(RD_OP_eq, l->call, between, number(l, 0)));
    rd_expr       *y        = map_where(l->call, map_1(RD_OP_isinf, l->call, difference), halved,
                                        interpolate_from_nearer(l, low, high, between));

    y = map_where(l->call, map_2(RD_OP_eq, l->call, between, number(l, 0.5)),
                  mean_of_two(l, low, high, sum), y);
    return map_where(l->call, exact, low, map_where(l->call, infinite, sum, y));
}

/* One quantile of each group, as f64: reads the sorted row g->sorted at two adjacent positions of
 * the group, and interpolates.  It is NaN if the group is empty or contains NaN, which sorts
 * last. */
static rd_expr *one_quantile(const grouped_call *l, const rd_grouped *g, rd_quantile_method method,
                             double q)
{
    rd_expr *const last  = add(l, l->n, -1); /* position in the group */
    rd_expr       *at    = map_2(RD_OP_minimum, l->call,
                                 map_2(RD_OP_maximum, l->call, position(l, method, q), number(l, 0)), last);
    rd_expr *const below = rounded(l, RD_OP_floor, at);

    if (!below)
        return NULL;
    rd_expr *const place = map_2(RD_OP_add, l->call, g->first, rd_cast_to(below, RD_I64));
    rd_expr *const end =
        map_2(RD_OP_sub, l->call, map_2(RD_OP_add, l->call, g->first, g->count), rd_int(l->ctx, 1));
    rd_expr *const next =
        map_2(RD_OP_minimum, l->call, map_2(RD_OP_add, l->call, place, rd_int(l->ctx, 1)), end);
    rd_expr *low      = rd_grouped_take(l->call, g->sorted, place);
    rd_expr *high     = rd_grouped_take(l->call, g->sorted, next);
    rd_expr *greatest = rd_grouped_take(l->call, g->sorted, end), *is_nan;

    low      = low ? rd_cast_to(low, RD_F64) : NULL;
    high     = high ? rd_cast_to(high, RD_F64) : NULL;
    greatest = greatest ? rd_cast_to(greatest, RD_F64) : NULL;
    is_nan   = map_2(RD_OP_or, l->call, map_2(RD_OP_eq, l->call, g->count, rd_int(l->ctx, 0)),
                     map_1(RD_OP_isnan, l->call, greatest));
    return map_where(l->call, is_nan, number(l, NAN),
                     interpolate(l, low, high, map_2(RD_OP_sub, l->call, at, below)));
}

/* All quantiles q of each group: one expression for each q, joined along a new last axis.  Rows
 * without elements have NaN. */
rd_expr *rd_quantiles_by_label(const rd_folding *f, rd_dtype type, rd_quantile_method method,
                               rd_qs q)
{
    grouped_call l = { .call = f->call, .ctx = f->x->ctx };
    rd_grouped   g;
    bool         any_result;
    rd_expr *y = rd_grouped_of_nothing(f, rd_number(l.ctx, type, rd_word_from_double(NAN, type)));

    if (!y || (y = rd_expand(y, -1)) == NULL)
        return NULL;
    const bool     empty   = !rd_folding_extent(f, &any_result) || !any_result;
    rd_expr *const nothing = y;

    if (!empty && (!rd_grouped_begin(&g, f, f->x) || !(l.n = rd_cast_to(g.count, RD_F64))))
        return NULL;
    y = rd_slice_places(nothing, -1, 0, 0, 1); /* without any q: an empty last axis */
    for (int k = 0; k < q.n && y; k++) {
        rd_expr *each = empty ? nothing : one_quantile(&l, &g, method, q.at[k] + 0);

        each = empty || !each ? each : rd_expand(rd_cast_to(each, type), -1);
        y    = k == 0 || !each ? each : rd_concat(-1, RD_EXPRS(y, each));
    }
    return rd_folding_origins(f, y);
}
