/* rdim/sorting.h - sorting, the greatest k, quantiles, ranks, search and interpolation.
 *
 * The order is total.  NaN comes last, also in descending order.  -0 and 0 are equal, and equal
 * elements keep their order (a stable sort).  NaN comes out as one NaN of its type.  Complex
 * numbers have no order: RD_ERR_TYPE.
 *
 * Macros such as rd_sort(x, axis, .descending = true) take keywords.  Each has a function with the
 * ending _by, which takes the struct. */
#ifndef RDIM_SORTING_H
#define RDIM_SORTING_H
#include "shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Sorting --------------------------------------------------------------------------------- */
/** Keywords of rd_sort, rd_argsort, rd_top_k and rd_arg_top_k. */
typedef struct rd_sort_opts {
    /** sizeof(rd_sort_opts); the macros set it. */
    uint32_t size;
    /** The positional argument.  Below 0 it counts from the end. */
    int32_t  axis;
    /** sort, argsort: the greatest comes first. */
    bool     descending;
    /** top_k, arg_top_k: the k smallest, in ascending order. */
    bool     smallest;
} rd_sort_opts;
/** x with the elements along an axis in ascending order.  numpy.sort.
 *  @return NULL on RD_ERR_AXIS, RD_ERR_TYPE, or RD_ERR_ARGUMENT (.smallest). */
RD_API rd_expr *rd_sort_by(rd_expr *x, const rd_sort_opts *opts);
/** The places of the sorted elements, i64: rd_take_along(x, axis, places) is the sorted x.
 *  numpy.argsort.
 *  @return NULL on RD_ERR_AXIS, RD_ERR_TYPE, or RD_ERR_ARGUMENT (.smallest). */
RD_API rd_expr *rd_argsort_by(rd_expr *x, const rd_sort_opts *opts);
/** The k greatest elements along an axis, in descending order; the axis gets extent k.  torch.topk.
 *  @return NULL on RD_ERR_AXIS, RD_ERR_TYPE, or RD_ERR_ARGUMENT (k is negative or above the extent,
 *          .descending). */
RD_API rd_expr *rd_top_k_by(rd_expr *x, int64_t k, const rd_sort_opts *opts);
/** The places of the k greatest elements along an axis, i64.  See rd_top_k_by(). */
RD_API rd_expr *rd_arg_top_k_by(rd_expr *x, int64_t k, const rd_sort_opts *opts);

/* ---- Quantiles ------------------------------------------------------------------------------- */
/** How the quantile q of n ordered elements is found.  numpy.quantile has the same methods.  The
 *  numbers are those of Hyndman and Fan (1996). */
typedef enum rd_quantile_method {
    RD_LINEAR,          /* at (n - 1) q, on the line between two elements; number 7  */
    RD_LOWER,           /* the element before (n - 1) q                              */
    RD_HIGHER,          /* the element after (n - 1) q                               */
    RD_NEAREST,         /* the element nearest to (n - 1) q, of two the even one     */
    RD_MIDPOINT,        /* the mean of the elements before and after (n - 1) q       */
    RD_INVERTED_CDF,    /* number 1                                                  */
    RD_AVERAGED_CDF,    /* number 2; NumPy's averaged_inverted_cdf                   */
    RD_CLOSEST,         /* number 3; NumPy's closest_observation                     */
    RD_INTERPOLATED_CDF, /* number 4; NumPy's interpolated_inverted_cdf              */
    RD_HAZEN,           /* number 5                                                  */
    RD_WEIBULL,         /* number 6                                                  */
    RD_MEDIAN_UNBIASED, /* number 8                                                  */
    RD_NORMAL_UNBIASED  /* number 9                                                  */
} rd_quantile_method;
/** Keywords of rd_median, rd_quantile, rd_quantiles and rd_percentile. */
typedef struct rd_quantile_opts {
    /** sizeof(rd_quantile_opts); the macros set it. */
    uint32_t           size;
    /** How a quantile is found. */
    rd_quantile_method method;
    /** The axes, the positional argument. */
    rd_dims            dims;
    /** Only elements where this is true take part.  It broadcasts to x. */
    rd_expr           *where;
    /** NaN elements do not take part. */
    bool               skip_nan;
    /** Quantiles of each group, as rd_reduce_opts.by. */
    rd_exprs           by;
    /** The number of groups for each label. */
    rd_shape           groups;
    /** Weights, for RD_INVERTED_CDF without `by`. */
    rd_expr           *weights;
} rd_quantile_opts;
/** Several quantiles for one call.  RD_QS() makes one. */
typedef struct rd_qs { const double *at; int32_t n; } rd_qs;
/** The median of the elements along the axes: the quantile 0.5.  See rd_quantile_by().
 *  numpy.median. */
RD_API rd_expr *rd_median_by(rd_expr *x, const rd_quantile_opts *opts);
/** The quantile q of the elements along the axes, 0 <= q <= 1.  numpy.quantile.
 *
 *  Floats keep their type; other types give f64.  16-bit floats and f32 are interpolated in f64 and
 *  rounded once.  Between a number and an infinity the result is that infinity, and between both
 *  infinities NaN.  It is NaN of no element, and if any element is NaN, unless .skip_nan.
 *  With .by and .groups there is one quantile for each group.
 *  With .weights and RD_INVERTED_CDF it is the first element in order at which the sum of weights
 *  reaches q of their total.  Elements of weight 0 take no part.  It is NaN if a weight is
 *  negative, or the total is not above 0.
 *  @return NULL on RD_ERR_AXIS, RD_ERR_TYPE, RD_ERR_SHAPE (.where or .weights does not broadcast to
 *          x), or RD_ERR_ARGUMENT (q outside 0 to 1, no such method, weights with another). */
RD_API rd_expr *rd_quantile_by(rd_expr *x, double q, const rd_quantile_opts *opts);
/** Several quantiles in one sort, along a new first axis.  See rd_quantile_by(). */
RD_API rd_expr *rd_quantiles_by(rd_expr *x, rd_qs q, const rd_quantile_opts *opts);

/* ---- Ranks ----------------------------------------------------------------------------------- */
/** The rank of equal elements. */
typedef enum rd_rank_method {
    RD_RANK_AVERAGE, /* the mean of their ranks                            */
    RD_RANK_MIN,     /* the least of their ranks                           */
    RD_RANK_MAX,     /* the greatest of their ranks                        */
    RD_RANK_DENSE,   /* one more than the rank of the next smaller element */
    RD_RANK_ORDINAL  /* different ranks, in the order of places            */
} rd_rank_method;
/** The rank of each element along an axis, f64: 1 for the smallest.  NaN has rank NaN, and does not
 *  count for the ranks of numbers.  scipy.stats.rankdata.
 *  @return NULL on RD_ERR_AXIS, RD_ERR_TYPE, or RD_ERR_ARGUMENT (method). */
RD_API rd_expr *rd_ranks(rd_expr *x, int axis, rd_rank_method method);

/* ---- Search in sorted rows, interpolation, filling ------------------------------------------- */
/** Which of several possible places rd_searchsorted() gives. */
typedef enum rd_side {
    RD_LEFT, /* the least    */
    RD_RIGHT /* the greatest */
} rd_side;
/** Where each x would go in an ascending row so that it stays ascending, i64 from 0 to the extent.
 *  numpy.searchsorted.
 *
 *  `sorted` is one row, and x has any shape.  Or `sorted` has x's rank: rows along the last axis
 *  belong together, and the other axes broadcast.  It is found by bisection; the order of rows is
 *  not checked.  NaN goes behind all numbers.  Integers are compared exactly, u64 with signed ones
 *  too.
 *  @return NULL on RD_ERR_SHAPE, RD_ERR_TYPE, or RD_ERR_ARGUMENT (side). */
RD_API rd_expr *rd_searchsorted(rd_expr *sorted, rd_expr *x, rd_side side);
/** Values at x by linear interpolation between known points.  numpy.interp.
 *
 *  @param xp     a row of positions, ascending or descending, which is not checked
 *  @param fp     the values, one for each position along `axis`; may be complex
 *  @param left   the value where x is below all positions; NULL: the value of that end
 *  @param right  the value where x is above all positions; NULL: the value of that end
 *  @return fp with the axes of x in place of `axis`.  It is computed in f64 and has fp's type;
 *          integers give f64.  NaN where x is NaN.  NULL on RD_ERR_SHAPE (no point, another number
 *          of values), RD_ERR_AXIS, or RD_ERR_TYPE. */
RD_API rd_expr *rd_interp(rd_expr *x, rd_expr *xp, rd_expr *fp, int axis, rd_expr *left,
                          rd_expr *right);
/** x with each NaN replaced by the last number before it along an axis, if that is at most `limit`
 *  elements away; 0: any distance.  Integers are x itself; takes complex.  pandas.DataFrame.ffill.
 *  @return NULL on RD_ERR_AXIS, or RD_ERR_ARGUMENT (limit is negative). */
RD_API rd_expr *rd_ffill(rd_expr *x, int axis, int64_t limit);
/** x with each NaN replaced by the next number after it along an axis, if that is at most `limit`
 *  elements away; 0: any distance.  Integers are x itself; takes complex.  pandas.DataFrame.bfill.
 *  @return NULL on RD_ERR_AXIS, or RD_ERR_ARGUMENT (limit is negative). */
RD_API rd_expr *rd_bfill(rd_expr *x, int axis, int64_t limit);

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/** Keywords as a struct, for functions that take it: RD_SORT_OPTS(axis, .descending = true). */
#define RD_SORT_OPTS(...) \
    (&(rd_sort_opts){ .size = (uint32_t)sizeof(rd_sort_opts), .axis = __VA_ARGS__ })
/** Keywords as a struct, for functions that take it: RD_QUANTILE_OPTS(RD_ALL, .where = mask). */
#define RD_QUANTILE_OPTS(...) (&(rd_quantile_opts){ .size = (uint32_t)sizeof(rd_quantile_opts) \
    * RD_1_IF_(rd_dims, say_RD_DIMS_axis_not_a_number, __VA_ARGS__), .dims = __VA_ARGS__ })
/** Several quantiles, for one call: RD_QS(0.25, 0.5, 0.75). */
#define RD_QS(...) \
    ((rd_qs){ (const double[]){ __VA_ARGS__ }, RD_N_(double, __VA_ARGS__) })
/** rd_sort(x, axis, .descending = true).  See rd_sort_by(). */
#define rd_sort(x, ...)         rd_sort_by(x, RD_SORT_OPTS(__VA_ARGS__))
/** rd_argsort(x, axis, .descending = true).  See rd_argsort_by(). */
#define rd_argsort(x, ...)      rd_argsort_by(x, RD_SORT_OPTS(__VA_ARGS__))
/** rd_top_k(x, k, axis, .smallest = true).  See rd_top_k_by(). */
#define rd_top_k(x, k, ...)     rd_top_k_by(x, k, RD_SORT_OPTS(__VA_ARGS__))
/** rd_arg_top_k(x, k, axis, .smallest = true).  See rd_arg_top_k_by(). */
#define rd_arg_top_k(x, k, ...) rd_arg_top_k_by(x, k, RD_SORT_OPTS(__VA_ARGS__))
/** rd_median(x, dims, keywords).  See rd_median_by(). */
#define rd_median(x, ...)       rd_median_by(x, RD_QUANTILE_OPTS(__VA_ARGS__))
/** rd_quantile(x, 0.9, dims, keywords).  See rd_quantile_by(). */
#define rd_quantile(x, q, ...)  rd_quantile_by(x, q, RD_QUANTILE_OPTS(__VA_ARGS__))
/** rd_quantiles(x, RD_QS(0.1, 0.9), dims, keywords).  See rd_quantiles_by(). */
#define rd_quantiles(x, q, ...) rd_quantiles_by(x, q, RD_QUANTILE_OPTS(__VA_ARGS__))
/** rd_percentile(x, 90, dims, keywords): the quantile p / 100.  See rd_quantile_by(). */
#define rd_percentile(x, p, ...) rd_quantile_by(x, (p) / 100., RD_QUANTILE_OPTS(__VA_ARGS__))
#endif
#endif
