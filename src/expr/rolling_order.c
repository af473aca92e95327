/* rolling_order.c - medians and quantiles of each window of n neighbours: each window is put in
 * order by itself. */
#include "expr/expr.h"

static rd_expr *rolling(const char *call, rd_expr *x, double q, int axis, int64_t n)
{
    rd_expr *windows;

    if (!rd_operands(call, 1, &x) || rd_axis(x, axis, call) < 0)
        return NULL;
    if (n < 1)
        return rd_fail(x->ctx, RD_ERR_ARGUMENT,
                       "%s: windows of %lld elements, at least 1 is needed", call, (long long)n);
    if (!(q >= 0 && q <= 1))
        return rd_fail(x->ctx, RD_ERR_ARGUMENT, "%s: quantile %g, possible are 0 to 1", call, q);
    windows = rd_window(x, axis, n, 1);
    return windows ? rd_quantile(windows, q, RD_DIMS(-1)) : NULL;
}

rd_expr *rd_rolling_median(rd_expr *x, int axis, int64_t n)
{
    return rolling("rd_rolling_median", x, 0.5, axis, n);
}

rd_expr *rd_rolling_quantile(rd_expr *x, double q, int axis, int64_t n)
{
    return rolling("rd_rolling_quantile", x, q, axis, n);
}
