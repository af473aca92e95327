/* ranks.c - the rank of each element among those along an axis.  Two sorts find its place in
 * order.  Scans of the sorted row find where runs of equal elements begin and end. */
#include "expr/complex.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/search.h"
#include <math.h>

static const char call[] = "rd_ranks";

/* For each element of a sorted row: the position at which its run of equal elements begins.
 * `begins` is true at the first element of each run; `at` is the position of each element.  A
 * running maximum carries the last begin on. */
static rd_expr *run_begins(rd_expr *begins, rd_expr *at)
{
    rd_expr *const y = map_where(call, begins, at, rd_int(begins->ctx, 0));

    return y ? rd_scan(y, "max", RD_DIMS(-1)) : NULL;
}

/* For each element of a sorted row: the position at which its run of equal elements ends.  An
 * element ends a run if the next one begins one.  A minimum that runs from the end carries the next
 * end back. */
static rd_expr *run_ends(rd_expr *begins, rd_expr *at)
{
    const int      last = begins->rank - 1;
    rd_expr *const next = rd_slice_places(begins, last, 1, RD_OPEN, 1);
    rd_expr *const ends = next ? rd_pad(next, last, /*before=*/0, /*after=*/1, RD_PAD_CONSTANT,
                                        rd_int(begins->ctx, 1))
                               : NULL;
    rd_expr *const y    = map_where(call, ends, at, rd_int(begins->ctx, begins->extent[last]));

    return y ? rd_scan(y, "min", RD_DIMS(-1), .reverse = true) : NULL;
}

/* Ranks of the elements of a sorted row, from 1; `method` says how equal elements are ranked.  For
 * RD_RANK_AVERAGE they are doubled (first + last rank of the run), so that they are ints. */
static rd_expr *ranks_in_order(rd_expr *sorted, rd_rank_method method)
{
    rd_expr *const begins = rd_begins_run(call, sorted);
    rd_expr *const one    = rd_int(sorted->ctx, 1);
    rd_expr       *at     = rd_places(sorted, sorted->rank - 1);

    if (!begins || !at || !(at = rd_broadcast_to(at, sorted->rank, sorted->extent, call)))
        return NULL;
    switch (method) {
    case RD_RANK_MIN: return map_2(RD_OP_add, call, run_begins(begins, at), one);
    case RD_RANK_MAX: return map_2(RD_OP_add, call, run_ends(begins, at), one);
    case RD_RANK_DENSE: return rd_scan(begins, "sum", RD_DIMS(-1));
    case RD_RANK_ORDINAL: return map_2(RD_OP_add, call, at, one);
    default:
        return map_2(RD_OP_add, call,
                     map_2(RD_OP_add, call, run_begins(begins, at), run_ends(begins, at)),
                     rd_int(sorted->ctx, 2));
    }
}

/* Ranks along the last axis, which is not empty: sorts, ranks, and brings the ranks back to x's
 * order by the inverse permutation, a second argsort.  NaN has no rank: its rank is NaN. */
static rd_expr *ranks_of_rows(rd_expr *x, rd_rank_method method)
{
    const int      last   = x->rank - 1;
    rd_expr *const order  = rd_argsort(x, last);
    rd_expr *const sorted = order ? rd_take_places_along(x, last, order) : NULL;
    rd_expr *const place  = order ? rd_argsort(order, last) : NULL;
    rd_expr       *y      = sorted ? ranks_in_order(sorted, method) : NULL;

    y = y && place ? rd_take_places_along(y, last, place) : NULL;
    y = y ? rd_cast_to(y, RD_F64) : NULL;
    if (method == RD_RANK_AVERAGE)
        y = map_2(RD_OP_mul, call, y, rd_num(x->ctx, 0.5));
    return rd_dtype_kind(x->type) == RD_KIND_FLOAT
               ? map_where(call, map_1(RD_OP_isnan, call, x), rd_num(x->ctx, NAN), y)
               : y;
}

/* The rank of each element along an axis, from 1, as f64: the public call, which moves the axis to
 * the end and back. */
rd_expr *rd_ranks(rd_expr *x, int axis, rd_rank_method method)
{
    rd_expr *y;
    int      a;

    if (!rd_operands(call, 1, &x) || rd_refuse_complex(call, 1, &x) ||
        (a = rd_axis(x, axis, call)) < 0)
        return NULL;
    if ((unsigned)method > RD_RANK_ORDINAL)
        return rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: method %d, not one of enum rd_rank_method",
                       call, (int)method);
    if (x->extent[a] == 0)
        return rd_cast_to(x, RD_F64);
    y = rd_with_origins(rd_cast_to(x, x->type), /*origin=*/NULL);
    y = y ? rd_move_axis(y, a, x->rank - 1) : NULL;
    y = y ? ranks_of_rows(y, method) : NULL;
    y = y ? rd_move_axis(y, x->rank - 1, a) : NULL;
    return y ? rd_with_origins(y, x->origin) : NULL;
}
