/* rolling.h - reductions of each window of n neighbours along an axis, while they are being
 * built. */
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

typedef struct rd_rolling {
    const char *call; /* for messages: "rd_rolling_sum"          */
    rd_rolled   what;
    rd_expr    *x;    /* strong, of the type that is computed in */
    rd_dtype    type; /* of the results                          */
    int         axis;
    int64_t     n;       /* elements of a window, at least 1        */
    double      ddof;    /* of var and std                          */
    bool        near;    /* elements lie about 0, as well as can be */
    bool        careful; /* no scans, as squares would cancel in them */
    rd_dtype    wide;    /* what sums of narrower ints become       */
} rd_rolling;

/* All windows along r->axis, which has n elements at least, the way that is best there; r->x is of the
 * type that is computed in.  And is no other axis of x walked in smaller steps? */
rd_expr *rd_rolling_reduced(rd_rolling *r);
bool     rd_rolling_is_along(const rd_expr *x, int axis);
/* Is each of so many windows of n along an axis of x, which is across memory, reduced by itself?  The
 * same of x and of a view of its windows. */
bool rd_rolling_is_fold(const rd_expr *x, int axis, rd_rolled what, int64_t n, int64_t windows);
/* All windows along an axis, which memory is walked along: made of shorter ones, by rows that stay in
 * cache. */
rd_expr *rd_rolling_by_rows(const rd_rolling *r, int axis);
/* r->x, or for sums of narrow ints the same in a narrower type that has room for those of n of them. */
rd_expr *rd_rolling_narrowed(const rd_rolling *r);
/* The same across memory, by parts of windows. */
rd_expr *rd_rolling_by_parts(const rd_rolling *r);
/* All windows in a time that does not grow with n; there are n elements, and an axis to spare. */
rd_expr *rd_rolling_by_scans(const rd_rolling *r);
/* Sum, least or greatest of n elements, or the sum of squares about their mean. */
rd_expr *rd_rolling_total(const rd_rolling *r, rd_expr *x, rd_dims along);
/* The axis as rows of n elements, each `step` after the one before, which get an axis in front.
 * And the rows of an axis put together again. */
rd_expr *rd_rolling_split(rd_expr *x, int axis, int64_t n, int64_t step);
rd_expr *rd_rolling_whole(rd_expr *rows, int axis);

static inline rd_expr *rd_rolling_map(const rd_rolling *r, rd_op op, rd_expr *x, rd_expr *y)
{
    return rd_map_op(op, r->call, 2, (rd_expr *const[]){ x, y });
}

static inline bool rd_rolling_adds(const rd_rolling *r)
{
    return r->what == RD_ROLLED_SUM || r->what == RD_ROLLED_MEAN;
}

/* What joins two parts of a window; of variances, their sums. */
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

/* What is asked for, of sums, least and greatest, or squares about the mean. */
rd_expr *rd_rolling_finish(const rd_rolling *r, rd_expr *y);
#endif
