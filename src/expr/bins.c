/* bins.c - bin numbers of values between edges, and counts of each bin: histograms. */
#include "core/float_env.h"
#include "expr/complex.h"
#include "expr/lists.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/reduce.h"
#include "expr/search.h"
#include <math.h>

/* ---- Bins of one width ----------------------------------------------------------------------- */
/* The bin of each element among n bins of one width from lo to hi; -1 outside.  It computes in f64
 * for any type of x, so that numbers just below an edge stay below it.  NaN gets -1, as its
 * comparisons are false. */
rd_expr *rd_bins(rd_expr *x, int64_t n, double lo, double hi)
{
    static const char call[] = "rd_bins";

    if (!x || !rd_operands(call, 1, &x) || rd_refuse_complex(call, 1, &x))
        return NULL;
    rd_ctx *const ctx = x->ctx;
    if (n < 1 || !(lo < hi) || !isfinite(hi - lo))
        return rd_fail(ctx, RD_ERR_ARGUMENT,
                       "%s: %lld bins from %g to %g, there must be one at least, of finite width",
                       call, (long long)n, lo, hi);
    x                     = rd_cast_to(x, RD_F64);
    rd_expr *const inside = map_2(RD_OP_and, call, map_2(RD_OP_ge, call, x, rd_num(ctx, lo)),
                                  map_2(RD_OP_le, call, x, rd_num(ctx, hi)));
    rd_expr *const at     = map_2(RD_OP_mul, call, map_2(RD_OP_sub, call, x, rd_num(ctx, lo)),
                                  rd_num(ctx, rd_float_quotient((double)n, hi, lo)));
    rd_expr *const bin    = map_2(RD_OP_minimum, call, rd_cast_to(at, RD_I64), rd_int(ctx, n - 1));

    return map_where(call, inside, bin, rd_int(ctx, -1));
}

/* ---- Bins between edges ---------------------------------------------------------------------- */
/* True if the edges are a row of at least two numbers.  False after recording for `call` that they
 * are not. */
static bool edges_ok(const char *call, const rd_expr *edges)
{
    char shape[RD_SHAPE_TEXT];

    if (edges->rank == 1 && edges->extent[0] >= 2)
        return true;
    rd_fail(edges->ctx, RD_ERR_SHAPE, "%s: edges of shape %s, they must be a row of two at least",
            call, rd_shape_text(edges->rank, edges->extent, shape));
    return false;
}

/* The bin of each element between sorted edges: the number of edges <= x, minus 1.  So elements
 * below get -1.  Above, where all m edges are counted, one equal to the last edge belongs to the
 * last bin, m - 2, and others get -1. */
rd_expr *rd_bins_between(rd_expr *x, rd_expr *edges)
{
    static const char call[]     = "rd_bins_between";
    rd_expr *const    operands[] = { x, edges };

    if (!rd_operands(call, 2, operands) || !edges_ok(call, edges))
        return NULL;
    rd_ctx *const  ctx = x->ctx;
    const int64_t  m   = edges->extent[0];
    rd_expr *const n   = rd_count_before(call, edges, x, RD_OP_le);
    rd_expr *const last =
        map_where(call, map_2(RD_OP_le, call, x, rd_select_place(edges, 0, m - 1)),
                  rd_int(ctx, m - 2), rd_int(ctx, -1));

    return map_where(call, map_2(RD_OP_eq, call, n, rd_int(ctx, m)), last,
                     map_2(RD_OP_sub, call, n, rd_int(ctx, 1)));
}

/* ---- Counts ---------------------------------------------------------------------------------- */
/* Counts the elements with each label, or sums their weights: a sum by group of the weights, or of
 * ones. */
rd_expr *rd_bincount(rd_exprs labels, rd_shape groups, rd_expr *weights)
{
    static const char call[] = "rd_bincount";
    rd_reduce_opts opts = { .size = sizeof opts, .dims = RD_ALL, .by = labels, .groups = groups };
    rd_expr       *operands[RD_MAX_RANK + 1], *x;
    int64_t        extent[RD_MAX_RANK];
    int            rank, n = 0;

    if (!rd_list_ok(weights ? weights->ctx : NULL, call, "labels", labels.at, labels.n,
                    /*least=*/1) ||
        !(x = labels.at[0]))
        return NULL;
    if (labels.n > RD_MAX_RANK)
        return rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: %d labels, there must be 1 to %d", call,
                       (int)labels.n, RD_MAX_RANK);
    for (; n < labels.n; n++)
        operands[n] = labels.at[n];
    if (weights)
        operands[n++] = weights;
    if (!rd_operands(call, n, operands) || !rd_common_shape(call, n, operands, &rank, extent))
        return NULL;
    x = weights ? rd_cast_to(weights, weights->type)
                : rd_number(operands[0]->ctx, RD_I64, rd_word_from_int(1, RD_I64));
    return rd_reduce_for(call, x ? rd_broadcast_to(x, rank, extent, call) : NULL, "sum", &opts);
}

/* Counts, or sums of weights, of the elements in n bins of equal width from lo to hi. */
rd_expr *rd_histogram(rd_expr *x, int64_t n, double lo, double hi, rd_expr *weights)
{
    rd_expr *const bins[] = { rd_bins(x, n, lo, hi) };

    return rd_bincount((rd_exprs){ bins, 1 }, RD_SHAPE(n), weights);
}
