/* rolling_order.c - medians and quantiles of each window of n neighbours.
 *
 * The median of a few neighbours is the middle output of a sorting network, built of minima and
 * maxima of shifted rows.  Comparisons that the middle does not need never enter the plan.
 * Other windows are sorted one by one. */
#include "expr/complex.h"
#include "expr/maps.h"
#include "expr/origin.h"

enum { NETWORK = 9 }; /* most neighbours; they take 36 comparisons */

/* The median of each window of n neighbours, n odd, by an odd-even transposition sort (Knuth, The
 * Art of Computer Programming 3, 5.3.4). wire[k] is element k of all windows, a shifted slice of x.
 * A NaN spreads by each comparison, so it reaches the middle, which depends on all inputs. */
static rd_expr *network_median(const char *call, rd_expr *x, int axis, int n)
{
    const int64_t count = x->extent[axis] - n + 1;
    rd_expr      *wire[NETWORK];

    for (int k = 0; k < n; k++)
        wire[k] = rd_slice_places(x, axis, k, k + count, 1);
    for (int round = 0; round < n; round++)
        for (int k = round % 2; k + 1 < n; k += 2) {
            rd_expr *const low  = map_2(RD_OP_minimum, call, wire[k], wire[k + 1]);
            rd_expr *const high = map_2(RD_OP_maximum, call, wire[k], wire[k + 1]);

            wire[k]     = low;
            wire[k + 1] = high;
        }
    return wire[n / 2];
}

/* Checks the operands.  A median of an odd number of up to 9 neighbours takes a sorting network;
 * any other quantile sorts each window. */
static rd_expr *rolling_quantile(const char *call, rd_expr *x, double q, int axis, int64_t n)
{
    rd_expr *y;
    int      a;

    if (!rd_operands(call, 1, &x) || rd_refuse_complex(call, 1, &x) ||
        (a = rd_axis(x, axis, call)) < 0)
        return NULL;
    if (n < 1)
        return rd_fail(x->ctx, RD_ERR_ARGUMENT,
                       "%s: windows of %lld elements, at least 1 is needed", call, (long long)n);
    if (!(q >= 0 && q <= 1))
        return rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: quantile %g, possible are 0 to 1", call, q);
    if (q == 0.5 && n % 2 && n <= NETWORK && n <= x->extent[a]) {
        y = network_median(call, rd_cast_to(x, x->type), a, (int)n);
        return y ? rd_cast_to(y, rd_dtype_kind(x->type) == RD_KIND_FLOAT ? x->type : RD_F64) : NULL;
    }
    y = rd_window(x, a, n, 1);
    return y ? rd_quantile(y, q, RD_DIMS(-1)) : NULL;
}

/* The median of each window of n neighbours. */
rd_expr *rd_rolling_median(rd_expr *x, int axis, int64_t n)
{
    return rolling_quantile("rd_rolling_median", x, 0.5, axis, n);
}

/* The quantile q of each window of n neighbours. */
rd_expr *rd_rolling_quantile(rd_expr *x, double q, int axis, int64_t n)
{
    return rolling_quantile("rd_rolling_quantile", x, q, axis, n);
}
