/* rdim/reductions.h - reductions and scans: sums, extremes, means, norms.
 *
 * rd_sum(x, RD_DIMS(0, 2), .where = mask) reduces x along the axes 0 and 2.  The result lacks the
 * reduced axes, or has them with extent 1 if they are given by RD_KEEP.  Keywords are the fields of
 * rd_reduce_opts.  RD_NONE reduces no axis, RD_ALL all of them.
 *
 * Types: sums and products of integers and bools are i64, and u64 for unsigned ones.  mean, var,
 * std and the functions after them give f64 for integers.  f16, bf16 and f8e4m3 are
 * accumulated in f32 and rounded once; .type = RD_F32 keeps the accumulated value.
 *
 * Errors: each function returns NULL on RD_ERR_AXIS and RD_ERR_TYPE, and on these.
 * - RD_ERR_SHAPE: .where or .weights does not broadcast to x, or .initial to the result.
 * - RD_ERR_EMPTY: min, max, argmin or argmax of no element, without .initial.
 * - RD_ERR_ARGUMENT: the reducer does not take a keyword.
 *
 * Complex operands: see rdim/complex_numbers.h.  More reductions: rdim/statistics.h and
 * rdim/sorting.h. */
#ifndef RDIM_REDUCTIONS_H
#define RDIM_REDUCTIONS_H
#include "shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How sums of floats are added. */
typedef enum rd_accuracy {
    RD_PAIRWISE,    /* by blocks in a binary tree: the error grows like log n (docs/design.md)   */
    RD_COMPENSATED, /* by the same tree with a correction term; for sum and mean                 */
    RD_WIDE,        /* all floats in f64                                                         */
    RD_SERIAL       /* from the first element to the last, one after the other                   */
} rd_accuracy;
/** A user's reducer.  See rdim/user_reducers.h. */
typedef struct rd_reducer rd_reducer;

/** Keywords of reductions and scans.  A field that is left out is 0, its default. */
typedef struct rd_reduce_opts {
    /** sizeof(rd_reduce_opts); the macros set it. */
    uint32_t    size;
    /** How sums are added. */
    rd_accuracy accuracy;
    /** The axes to reduce, the positional argument; one axis for scans. */
    rd_dims     dims;
    /** Only elements where this is true take part.  It broadcasts to the operand. */
    rd_expr    *where;
    /** One more element of sum, prod, min, max and bits_*.  It broadcasts to the result. */
    rd_expr    *initial;
    /** Weights for mean, var, std, skewness, kurtosis, logsumexp, cov and corr. */
    rd_expr    *weights;
    /** NaN elements do not take part. */
    bool        skip_nan;
    /** Scans: element i is the reduction of the elements before i, without i itself. */
    bool        exclusive;
    /** Scans: go from the last element to the first. */
    bool        reverse;
    /** The type of the result.  The accumulator has at least this type; for complex types it has
     *  that of their parts. */
    rd_dtype    type;
    /** var, std, cov: divide by n - ddof. */
    double      ddof;
    /** norm: the order, 1, 2, INFINITY or -INFINITY.  0 means 2. */
    double      p;
    /** Reduction by label: .by = RD_EXPRS(label), .groups = RD_SHAPE(n) reduces each of n groups.
     *
     *  Labels are integers or bools that broadcast to the operand.  An element belongs to the group
     *  that its label says.  A label that is negative, or n or more, means no group.
     *  The result has an axis of extent n in place of the first reduced axis, or at the end if none
     *  is reduced; RD_KEEP keeps the other ones.  Several labels make several axes:
     *  .by = RD_EXPRS(row, col), .groups = RD_SHAPE(n, m).
     *  A group without elements has the value of no element; min and max of integers need .initial
     *  for that (RD_ERR_EMPTY).  Floats of 16 and 32 bits are added and multiplied in f64.
     *  Scans take no labels. */
    rd_exprs    by;
    /** The number of groups for each label. */
    rd_shape    groups;
    /** Scans of sum, prod, min, max, mean, count, any, all and norm: where this is true, the scan
     *  begins again with that element.  It broadcasts to the operand.
     *
     *  Sums in runs of one label: .restart = rd_pad(rd_diff(label, 0, 1), 0, 1, 0,
     *  RD_PAD_CONSTANT, NULL).  Floats of 16 and 32 bits are added and multiplied in f64. */
    rd_expr    *restart;
} rd_reduce_opts;

/** A reduction by name: "sum", "mean" and all macros of this header without rd_.  An unknown name
 *  is RD_ERR_TEXT.  Errors: see the head of this file. */
RD_API rd_expr *rd_reduce_name(rd_expr *x, const char *reducer, const rd_reduce_opts *opts);
/** A reduction by a user's reducer, see rdim/user_reducers.h.  Errors: see the head of this
 *  file. */
RD_API rd_expr *rd_reduce_user(rd_expr *x, const rd_reducer *reducer, const rd_reduce_opts *opts);
/** A reduction of two operands, which broadcast, by a user's reducer of two (RD_REDUCER2).
 *  .skip_nan leaves out the pairs in which x is NaN.  Errors: see the head of this file. */
RD_API rd_expr *rd_reduce2_user(rd_expr *x, rd_expr *w, const rd_reducer *reducer,
                                const rd_reduce_opts *opts);
/** A scan by name along one axis: element i is the reduction of the elements 0 to i.
 *
 *  The result has x's shape.  All names of rd_reduce_name() scan; argmin and argmax give places
 *  along the axis.  numpy.cumsum, numpy.cumprod, numpy.maximum.accumulate and their like.
 *  Errors: see the head of this file. */
RD_API rd_expr *rd_scan_name(rd_expr *x, const char *reducer, const rd_reduce_opts *opts);
/** A scan along one axis by a user's reducer with one output.  See rd_scan_name(). */
RD_API rd_expr *rd_scan_user(rd_expr *x, const rd_reducer *reducer, const rd_reduce_opts *opts);

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/** Keywords as a struct, for functions that take it: RD_REDUCE_OPTS(RD_DIMS(0), .where = mask).
 *
 *  A number instead of a set of axes does not compile, as it would silently become the first member
 *  of a set.  The error names struct say_RD_DIMS_axis_not_a_number. */
#define RD_REDUCE_OPTS(...) (&(rd_reduce_opts){ .size = (uint32_t)sizeof(rd_reduce_opts) \
    * RD_1_IF_(rd_dims, say_RD_DIMS_axis_not_a_number, __VA_ARGS__), .dims = __VA_ARGS__ })
/* `name` for a text, `user` for a reducer. */
#define RD_BY_(r, name, user) _Generic((r), char *: name, const char *: name, rd_reducer *: user, \
    const rd_reducer *: user)

/** The sum; 0 of no element.  numpy.sum. */
#define rd_sum(x, ...)       rd_reduce_name(x, "sum",       RD_REDUCE_OPTS(__VA_ARGS__))
/** The product; 1 of no element.  The product of elements that are not 0 is
 *  rd_prod(x, dims, .where = x).  numpy.prod. */
#define rd_prod(x, ...)      rd_reduce_name(x, "prod",      RD_REDUCE_OPTS(__VA_ARGS__))
/** The smallest element, in x's type.
 *
 *  NaN if any element is, unless .skip_nan.  Where .where or .skip_nan leave no element it is NaN,
 *  or .initial, which integers need.  numpy.min. */
#define rd_min(x, ...)       rd_reduce_name(x, "min",       RD_REDUCE_OPTS(__VA_ARGS__))
/** The greatest element, in x's type.  NaN and no element: see rd_min.  numpy.max. */
#define rd_max(x, ...)       rd_reduce_name(x, "max",       RD_REDUCE_OPTS(__VA_ARGS__))
/** The place of the smallest element, i64: the flat index in C order over the reduced axes.
 *
 *  It is the lowest place of several, and that of the first NaN if there is one.  It is -1 where
 *  .where or .skip_nan leave no element.  Together with rd_min it takes one pass.  numpy.argmin. */
#define rd_argmin(x, ...)    rd_reduce_name(x, "argmin",    RD_REDUCE_OPTS(__VA_ARGS__))
/** The place of the greatest element, i64.  See rd_argmin.  numpy.argmax. */
#define rd_argmax(x, ...)    rd_reduce_name(x, "argmax",    RD_REDUCE_OPTS(__VA_ARGS__))
/** Whether any element is true, that is, not 0; false of no element.  bool.  numpy.any. */
#define rd_any(x, ...)       rd_reduce_name(x, "any",       RD_REDUCE_OPTS(__VA_ARGS__))
/** Whether all elements are true, that is, not 0; true of no element.  bool.  numpy.all. */
#define rd_all(x, ...)       rd_reduce_name(x, "all",       RD_REDUCE_OPTS(__VA_ARGS__))
/** The number of elements that are not 0, i64.  NaN counts.  numpy.count_nonzero. */
#define rd_count(x, ...)     rd_reduce_name(x, "count",     RD_REDUCE_OPTS(__VA_ARGS__))
/** The bitwise and of integers or bools, in their type; all bits set of no element.
 *  numpy.bitwise_and.reduce. */
#define rd_bits_and(x, ...)  rd_reduce_name(x, "bits_and",  RD_REDUCE_OPTS(__VA_ARGS__))
/** The bitwise or of integers or bools, in their type; 0 of no element.
 *  numpy.bitwise_or.reduce. */
#define rd_bits_or(x, ...)   rd_reduce_name(x, "bits_or",   RD_REDUCE_OPTS(__VA_ARGS__))
/** The bitwise exclusive or of integers or bools, in their type; 0 of no element.
 *  numpy.bitwise_xor.reduce. */
#define rd_bits_xor(x, ...)  rd_reduce_name(x, "bits_xor",  RD_REDUCE_OPTS(__VA_ARGS__))
/** The mean, with .weights a weighted one; NaN of no element.  numpy.mean, numpy.average. */
#define rd_mean(x, ...)      rd_reduce_name(x, "mean",      RD_REDUCE_OPTS(__VA_ARGS__))
/** The variance: squares of distances from the mean, divided by n - ddof.
 *
 *  With .weights the divisor is the sum of the weights - ddof.  NaN of no element, and where the
 *  divisor is not positive.  numpy.var. */
#define rd_var(x, ...)       rd_reduce_name(x, "var",       RD_REDUCE_OPTS(__VA_ARGS__))
/** The standard deviation, the root of rd_var.  numpy.std. */
#define rd_std(x, ...)       rd_reduce_name(x, "std",       RD_REDUCE_OPTS(__VA_ARGS__))
/** The skewness: the third moment about the mean, divided by std^3, without ddof.  Takes .weights.
 *  NaN if all elements are equal.  scipy.stats.skew. */
#define rd_skewness(x, ...)  rd_reduce_name(x, "skewness",  RD_REDUCE_OPTS(__VA_ARGS__))
/** The excess kurtosis: the fourth moment about the mean, divided by std^4, less 3.  It is 0 for a
 *  normal distribution.  Takes .weights.  NaN if all elements are equal.  scipy.stats.kurtosis. */
#define rd_kurtosis(x, ...)  rd_reduce_name(x, "kurtosis",  RD_REDUCE_OPTS(__VA_ARGS__))
/** The norm (sum |x|^p)^(1/p), with .p = 1, 2 (the default), INFINITY or -INFINITY.
 *
 *  INFINITY is the greatest |x|, 0 of no element.  -INFINITY is the least |x|, infinity of no
 *  element.  numpy.linalg.norm of vectors. */
#define rd_norm(x, ...)      rd_reduce_name(x, "norm",      RD_REDUCE_OPTS(__VA_ARGS__))
/** log(sum(weights * exp(x))), without overflow on the way; -inf of no element.
 *  scipy.special.logsumexp. */
#define rd_logsumexp(x, ...) rd_reduce_name(x, "logsumexp", RD_REDUCE_OPTS(__VA_ARGS__))
/** A reduction by name or by a user's reducer: rd_reduce(x, "sum", dims, keywords).  See
 *  rd_reduce_name() and rd_reduce_user(). */
#define rd_reduce(x, r, ...) \
    RD_BY_(r, rd_reduce_name, rd_reduce_user)(x, r, RD_REDUCE_OPTS(__VA_ARGS__))
/** A reduction of two operands: rd_reduce2(x, w, r, dims, keywords).  See rd_reduce2_user(). */
#define rd_reduce2(x, w, r, ...) rd_reduce2_user(x, w, r, RD_REDUCE_OPTS(__VA_ARGS__))
/** A scan by name or by a user's reducer: rd_scan(x, "sum", RD_DIMS(axis), keywords).  See
 *  rd_scan_name() and rd_scan_user(). */
#define rd_scan(x, r, ...) \
    RD_BY_(r, rd_scan_name, rd_scan_user)(x, r, RD_REDUCE_OPTS(__VA_ARGS__))
#endif
#endif
