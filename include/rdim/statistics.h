/* rdim/statistics.h - covariances, both extremes, first and last, modes, integrals and slopes.
 *
 * The macros take the keywords of rd_reduce_opts, as the reductions of rdim/reductions.h do, and
 * fail as those do.  Each has a function with the ending _of, which takes the struct. */
#ifndef RDIM_STATISTICS_H
#define RDIM_STATISTICS_H
#include "reductions.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The covariance of two operands, which broadcast: sum((x - mean x) (y - mean y)) / (n - ddof).
 *
 *  It takes one pass without weights.  With .weights it divides by the sum of the weights - ddof.
 *  .skip_nan leaves out the pairs in which x or y is NaN.  A complex y is conjugated.  Types are
 *  those of rd_var.  numpy.cov of two rows.
 *  @return NULL as reductions, and on RD_ERR_ARGUMENT (.weights and .by together). */
RD_API rd_expr *rd_cov_of(rd_expr *x, rd_expr *y, const rd_reduce_opts *opts);
/** Pearson's correlation of two operands: cov / (std x std y), from -1 to 1.
 *
 *  It is NaN where x or y has equal elements only.  It takes no ddof.  All else is as for
 *  rd_cov_of(), but complex operands are RD_ERR_TYPE.  numpy.corrcoef of two rows.
 *  @return NULL as reductions, and on RD_ERR_ARGUMENT (.weights and .by together). */
RD_API rd_expr *rd_corr_of(rd_expr *x, rd_expr *y, const rd_reduce_opts *opts);
/** The smallest and the greatest element in one pass, along a new first axis of extent 2.
 *  Keywords, NaN and errors: see rd_min. */
RD_API rd_expr *rd_minmax_of(rd_expr *x, const rd_reduce_opts *opts);
/** The first element in C order along the axes, of those that .where and .skip_nan leave.
 *
 *  Where no element is left, or in an empty group of .by, it is NaN, or .initial, which integers
 *  need.  Takes complex.
 *  @return NULL as reductions, and on RD_ERR_EMPTY. */
RD_API rd_expr *rd_first_of(rd_expr *x, const rd_reduce_opts *opts);
/** The last element in C order along the axes, of those that .where and .skip_nan leave.  See
 *  rd_first_of(). */
RD_API rd_expr *rd_last_of(rd_expr *x, const rd_reduce_opts *opts);
/** The most frequent element along the axes, the smallest of several, in x's type.
 *
 *  It is NaN if any element is, unless .skip_nan.  Takes .where, .skip_nan, .by, .groups, .initial
 *  and .type.  Where these leave no element it is NaN, or .initial, which integers need.  Together
 *  with rd_mode_count_of() it takes one sort.  scipy.stats.mode.
 *  @return NULL on RD_ERR_EMPTY (no element), RD_ERR_AXIS, RD_ERR_TYPE. */
RD_API rd_expr *rd_mode_of(rd_expr *x, const rd_reduce_opts *opts);
/** How often the most frequent element occurs, i64.  If any element is NaN it is how many are; 0 if
 *  keywords leave no element.  See rd_mode_of(). */
RD_API rd_expr *rd_mode_count_of(rd_expr *x, const rd_reduce_opts *opts);
/** rd_mode_of() without keywords. */
RD_API rd_expr *rd_mode(rd_expr *x, rd_dims dims);
/** rd_mode_count_of() without keywords. */
RD_API rd_expr *rd_mode_count(rd_expr *x, rd_dims dims);

/** The integral of y along an axis by the trapezoidal rule; 0 of one element.  numpy.trapezoid.
 *
 *  @param x  a number, the distance of neighbours; or positions: a row along that axis, or an array
 *            of y's rank
 *  @return y's shape without the axis.  Integers give f64; takes complex y.  NULL on RD_ERR_AXIS,
 *          RD_ERR_SHAPE, or RD_ERR_TYPE (x is complex). */
RD_API rd_expr *rd_trapezoid(rd_expr *y, rd_expr *x, int axis);
/** The slope of y along an axis, by differences of neighbours: rd_gradient(y, rd_num(ctx, dx), 0,
 *  1).  numpy.gradient.
 *
 *  Inside it is the slope of the parabola through three points.
 *  @param x      as for rd_trapezoid()
 *  @param order  the slope at the ends: 1 by the line through two points, 2 by the parabola through
 *                three
 *  @return y's shape; integers give f64; y may be complex.  NULL on RD_ERR_AXIS, RD_ERR_SHAPE (no
 *          more than `order` elements), RD_ERR_ARGUMENT (order), or RD_ERR_TYPE (x is complex). */
RD_API rd_expr *rd_gradient(rd_expr *y, rd_expr *x, int axis, int order);

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/** rd_cov(x, y, dims, keywords): the covariance.  See rd_cov_of(). */
#define rd_cov(x, y, ...)     rd_cov_of(x, y, RD_REDUCE_OPTS(__VA_ARGS__))
/** rd_corr(x, y, dims, keywords): the correlation.  See rd_corr_of(). */
#define rd_corr(x, y, ...)    rd_corr_of(x, y, RD_REDUCE_OPTS(__VA_ARGS__))
/** rd_minmax(x, dims, keywords): both extremes.  See rd_minmax_of(). */
#define rd_minmax(x, ...)     rd_minmax_of(x, RD_REDUCE_OPTS(__VA_ARGS__))
/** rd_first(x, dims, keywords): the first element.  See rd_first_of(). */
#define rd_first(x, ...)      rd_first_of(x, RD_REDUCE_OPTS(__VA_ARGS__))
/** rd_last(x, RD_DIMS(0), .skip_nan = true): the last element.  See rd_last_of(). */
#define rd_last(x, ...)       rd_last_of(x, RD_REDUCE_OPTS(__VA_ARGS__))
/** rd_mode(x, dims, keywords): the most frequent element.  See rd_mode_of(). */
#define rd_mode(x, ...)       rd_mode_of(x, RD_REDUCE_OPTS(__VA_ARGS__))
/** rd_mode_count(x, dims, keywords): how often that occurs.  See rd_mode_count_of(). */
#define rd_mode_count(x, ...) rd_mode_count_of(x, RD_REDUCE_OPTS(__VA_ARGS__))
#endif
#endif
