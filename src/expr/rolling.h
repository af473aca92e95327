/* rolling.h - rolling reductions, of each window of n neighbours along an axis, while they are
 * being built. */
#ifndef RD_EXPR_ROLLING_H
#define RD_EXPR_ROLLING_H
#include "expr/complex.h"
#include <math.h>

typedef enum rd_rolled {
    RD_ROLLED_SUM,
    RD_ROLLED_MEAN,
    RD_ROLLED_MIN,
    RD_ROLLED_MAX,
    RD_ROLLED_ANY,
    RD_ROLLED_ALL,
    RD_ROLLED_VAR,
    RD_ROLLED_STD
} rd_rolled;

/* A rolling reduction while it is built. */
typedef struct rd_rolling {
    const char *call; /* for messages: "rd_rolling_sum"          */
    rd_rolled   what;
    rd_expr    *x;       /* strong, of the computation's type */
    rd_dtype    type;    /* of the results */
    int         axis;    /* along which windows move */
    int64_t     n;       /* elements of a window, at least 1        */
    double      ddof;    /* of var and std                          */
    bool        near;    /* elements are already centred about 0 */
    bool        careful; /* no scans, as squares would cancel in them */
    rd_dtype    wide;    /* type that sums of narrowed ints are cast to */
} rd_rolling;

/* Reduces all windows along r->axis by the best strategy.  The axis has at least n elements, and
 * r->x has the type of the computation.
 *
 * rd_rolling_is_along(): true if no other axis of x has a smaller stride. */
rd_expr *rd_rolling_reduced(rd_rolling *r);
bool     rd_rolling_is_along(const rd_expr *x, int axis);
/* True if each of `windows` windows of n elements along an axis across memory is a fold of its
 * own.  The answer is the same for x and for a view of its windows. */
bool rd_rolling_is_fold(const rd_expr *x, int axis, rd_rolled what, int64_t n, int64_t windows);
/* Reduces all windows along an axis that runs along memory: built from shorter windows, by rows
 * that stay in cache. */
rd_expr *rd_rolling_by_rows(const rd_rolling *r, int axis);
/* r->x.  For sums of narrow ints, the same in the narrowest type that can hold a sum of n of
 * them. */
rd_expr *rd_rolling_narrowed(const rd_rolling *r);
/* As rd_rolling_by_rows(), but across memory: a window consists of parts. */
rd_expr *rd_rolling_by_parts(const rd_rolling *r);
/* Reduces all windows in a time that does not grow with n.  There are at least n elements, and
 * an axis to spare. */
rd_expr *rd_rolling_by_scans(const rd_rolling *r);
/* Sum, minimum or maximum of n elements, or the sum of squares about their mean. */
rd_expr *rd_rolling_total(const rd_rolling *r, rd_expr *x, rd_dims along);
/* rd_rolling_split() cuts the axis into rows of n elements, each `step` after the one before,
 * and numbers them by a new first axis.  rd_rolling_whole() joins rows to one axis again. */
rd_expr *rd_rolling_split(rd_expr *x, int axis, int64_t n, int64_t step);
rd_expr *rd_rolling_whole(rd_expr *rows, int axis);

/* Makes a map of two operands for a rolling reduction; failures name its call. */
static inline rd_expr *rd_rolling_map(const rd_rolling *r, rd_op op, rd_expr *x, rd_expr *y)
{
    return rd_map_op(op, r->call, 2, (rd_expr *const[]){ x, y });
}

/* True if a window is reduced by adding its elements: a sum or a mean. */
static inline bool rd_rolling_adds(const rd_rolling *r)
{
    return r->what == RD_ROLLED_SUM || r->what == RD_ROLLED_MEAN;
}

/* The operator that combines the results of two parts of a window.  For sums, means and variances
 * it adds. */
static inline rd_op rd_rolling_op(const rd_rolling *r)
{
    switch (r->what) {
    case RD_ROLLED_MIN: return RD_OP_minimum;
    case RD_ROLLED_MAX: return RD_OP_maximum;
    case RD_ROLLED_ANY: return RD_OP_or;
    case RD_ROLLED_ALL: return RD_OP_and;
    default: return RD_OP_add;
    }
}

/* The result of a window from its sum, minimum or maximum, or squares about the mean. */
rd_expr *rd_rolling_finish(const rd_rolling *r, rd_expr *y);
#endif
