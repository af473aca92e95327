/* rdim/windows.h - moving windows along an axis: rolling reductions, weighted means, convolutions.
 *
 * Rolling functions reduce each n neighbours along an axis.  The axis gets extent - n + 1 results,
 * or none if n is above the extent.  To get as many as x has, pad x first (rd_pad).
 *
 * The time for one result grows with log n at most.  NaN and infinities affect only the windows
 * that contain them.  Sums of floats may differ from those of rd_window() in the last bits, and
 * have smaller errors.  Types are those of the reductions.  Other reducers:
 * rd_reduce(rd_window(x, axis, n, 1), r, RD_DIMS(-1)). */
#ifndef RDIM_WINDOWS_H
#define RDIM_WINDOWS_H
#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Keywords of rolling sums, means, extremes and variances. */
typedef struct rd_rolling_opts {
    /** sizeof(rd_rolling_opts); the macros set it. */
    uint32_t size;
    /** The axis, the first positional argument. */
    int32_t  axis;
    /** The number of neighbours in a window, the second positional argument. */
    int64_t  n;
    /** var, std: divide by n - ddof. */
    double   ddof;
    /** The type of the results; the accumulator has at least this type. */
    rd_dtype type;
    /** 0. */
    int32_t  reserved;
} rd_rolling_opts;
/** A rolling reduction by name: "sum", "mean", "min", "max", "var" or "std".
 *  @return NULL on RD_ERR_TEXT (another name), RD_ERR_AXIS, RD_ERR_TYPE, or RD_ERR_ARGUMENT (n is
 *          below 1). */
RD_API rd_expr *rd_rolling_name(rd_expr *x, const char *reducer, const rd_rolling_opts *opts);
/** The sum of each n neighbours.  Takes complex.  pandas: x.rolling(n).sum().
 *  @return NULL on RD_ERR_AXIS, or RD_ERR_ARGUMENT (n is below 1). */
RD_API rd_expr *rd_rolling_sum(rd_expr *x, int axis, int64_t n);
/** The mean of each n neighbours.  Takes complex.  pandas: x.rolling(n).mean().
 *  @return NULL on RD_ERR_AXIS, or RD_ERR_ARGUMENT (n is below 1). */
RD_API rd_expr *rd_rolling_mean(rd_expr *x, int axis, int64_t n);
/** The smallest of each n neighbours.  pandas: x.rolling(n).min().
 *  @return NULL on RD_ERR_AXIS, RD_ERR_TYPE (complex), or RD_ERR_ARGUMENT (n is below 1). */
RD_API rd_expr *rd_rolling_min(rd_expr *x, int axis, int64_t n);
/** The greatest of each n neighbours.  pandas: x.rolling(n).max().
 *  @return NULL on RD_ERR_AXIS, RD_ERR_TYPE (complex), or RD_ERR_ARGUMENT (n is below 1). */
RD_API rd_expr *rd_rolling_max(rd_expr *x, int axis, int64_t n);
/** The variance of each n neighbours: squares of distances from the window's mean, divided by
 *  n - ddof; NaN if that is not positive.  Takes complex.  pandas: x.rolling(n).var(ddof).
 *  @return NULL on RD_ERR_AXIS, or RD_ERR_ARGUMENT (n is below 1). */
RD_API rd_expr *rd_rolling_var(rd_expr *x, int axis, int64_t n, double ddof);
/** The standard deviation of each n neighbours, the root of rd_rolling_var().  Takes complex.
 *  pandas: x.rolling(n).std(ddof).
 *  @return NULL on RD_ERR_AXIS, or RD_ERR_ARGUMENT (n is below 1). */
RD_API rd_expr *rd_rolling_std(rd_expr *x, int axis, int64_t n, double ddof);
/** The median of each n neighbours, as rd_median.  Each window is sorted by itself.
 *  pandas: x.rolling(n).median().
 *  @return NULL on RD_ERR_AXIS, RD_ERR_TYPE (complex), or RD_ERR_ARGUMENT (n is below 1). */
RD_API rd_expr *rd_rolling_median(rd_expr *x, int axis, int64_t n);
/** The quantile q of each n neighbours, as rd_quantile.  Each window is sorted by itself.
 *  pandas: x.rolling(n).quantile(q).
 *  @return NULL on RD_ERR_AXIS, RD_ERR_TYPE (complex), or RD_ERR_ARGUMENT (n is below 1, q outside
 *          0 to 1). */
RD_API rd_expr *rd_rolling_quantile(rd_expr *x, double q, int axis, int64_t n);

/** Exponentially weighted means along an axis.  pandas: x.ewm(alpha=alpha, adjust=adjust).mean().
 *
 *  With `adjust`, element i is the weighted mean of elements 0 to i, in which each counts 1 - alpha
 *  times as much as the next one; NaN do not count.  Without it y[0] = x[0] and
 *  y[i] = (1 - alpha) y[i - 1] + alpha x[i]; after a NaN all is NaN (see rd_ffill()).
 *  After an infinity all is infinite, but for alpha = 1, which gives each element itself.
 *  @return x's shape.  It is computed in f64 and has x's type; integers give f64.  NaN before the
 *          first number, and where all weights are 0 in f64.  NULL on RD_ERR_AXIS, RD_ERR_TYPE,
 *          RD_ERR_SHAPE (the rank is 32), or RD_ERR_ARGUMENT (alpha is not in (0, 1]). */
RD_API rd_expr *rd_ewm_mean(rd_expr *x, int axis, double alpha, bool adjust);

/** Which results a convolution of n elements with m has. */
typedef enum rd_convolve_mode {
    RD_CONVOLVE_FULL, /* n + m - 1: all in which the two overlap                       */
    RD_CONVOLVE_SAME, /* as many as the longer one has, from the middle                */
    RD_CONVOLVE_VALID /* |n - m| + 1: those in which the shorter one is inside         */
} rd_convolve_mode;
/** The convolution of x along an axis with the row k: y[i] = sum over j of x[i - j] k[j].
 *  numpy.convolve.
 *
 *  Types are those of rd_matmul(), complex ones too.  Each result takes as many products as k has
 *  elements, or as the shorter one of two rows has.  There is no Fourier transform.
 *  @return NULL on RD_ERR_AXIS, RD_ERR_SHAPE (k is not a row, or empty), or RD_ERR_ARGUMENT
 *          (mode). */
RD_API rd_expr *rd_convolve(rd_expr *x, rd_expr *k, int axis, rd_convolve_mode mode);
/** The correlation of x along an axis with the row k: y[i] = sum over j of x[i + j] conj(k[j]).
 *  numpy.correlate.  Types, cost and errors: see rd_convolve(). */
RD_API rd_expr *rd_correlate(rd_expr *x, rd_expr *k, int axis, rd_convolve_mode mode);

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/** Keywords as a struct, for rd_rolling_name(): RD_ROLLING_OPTS(axis, n, .type = RD_F64). */
#define RD_ROLLING_OPTS(...) \
    (&(rd_rolling_opts){ .size = (uint32_t)sizeof(rd_rolling_opts), .axis = __VA_ARGS__ })
/** rd_rolling_sum(x, axis, n, .type = RD_F64): the function of this name, with keywords. */
#define rd_rolling_sum(x, ...)  rd_rolling_name(x, "sum", RD_ROLLING_OPTS(__VA_ARGS__))
/** rd_rolling_mean(x, axis, n, .type = RD_F64): the function of this name, with keywords. */
#define rd_rolling_mean(x, ...) rd_rolling_name(x, "mean", RD_ROLLING_OPTS(__VA_ARGS__))
/** rd_rolling_min(x, axis, n, .type = RD_F64): the function of this name, with keywords. */
#define rd_rolling_min(x, ...)  rd_rolling_name(x, "min", RD_ROLLING_OPTS(__VA_ARGS__))
/** rd_rolling_max(x, axis, n, .type = RD_F64): the function of this name, with keywords. */
#define rd_rolling_max(x, ...)  rd_rolling_name(x, "max", RD_ROLLING_OPTS(__VA_ARGS__))
/** rd_rolling_var(x, axis, n, ddof): the function of this name, with keywords. */
#define rd_rolling_var(x, ...)  rd_rolling_name(x, "var", RD_ROLLING_OPTS(__VA_ARGS__))
/** rd_rolling_std(x, axis, n, ddof): the function of this name, with keywords. */
#define rd_rolling_std(x, ...)  rd_rolling_name(x, "std", RD_ROLLING_OPTS(__VA_ARGS__))
#endif
#endif
