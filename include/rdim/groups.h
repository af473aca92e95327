/* rdim/groups.h - group by labels: bins, counts, histograms, scatter.
 *
 * Any reduction can reduce by label: see .by and .groups of rd_reduce_opts in rdim/reductions.h,
 * for example rd_mean(x, RD_ALL, .by = RD_EXPRS(label), .groups = RD_SHAPE(n)).  This part has
 * functions that make labels, and short forms of frequent reductions. */
#ifndef RDIM_GROUPS_H
#define RDIM_GROUPS_H
#include "shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The bin of each element, i64 of x's shape, as a label for `.by`: n bins of equal width from lo
 *  to hi.
 *
 *  The bin is floor((x - lo) * (n / (hi - lo))), computed in f64.  The last bin contains hi.  The
 *  label of NaN, and of numbers outside, is -1.  numpy.digitize with equal edges.
 *  @return NULL on RD_ERR_TYPE (complex), or RD_ERR_ARGUMENT: n is below 1, lo is not below hi, or
 *          one is not finite. */
RD_API rd_expr *rd_bins(rd_expr *x, int64_t n, double lo, double hi);
/** The bin of each element between edges, i64 of x's shape, as a label for `.by`.
 *
 *  `edges` is a row of n + 1 numbers that do not fall, which is not checked.  Bin i has
 *  edges[i] <= x < edges[i + 1], and the last bin contains its right edge.  The label of NaN, and
 *  of numbers outside, is -1.  It is found by bisection.  numpy.digitize, less 1.
 *  @return NULL on RD_ERR_TYPE (complex), or RD_ERR_SHAPE: fewer than two edges, or not of rank
 *          1. */
RD_API rd_expr *rd_bins_between(rd_expr *x, rd_expr *edges);
/** How often each label occurs, i64, or the sum of the weights of its elements.  numpy.bincount.
 *
 *  rd_bincount(RD_EXPRS(label), RD_SHAPE(n), NULL) has shape (n).  Several labels are counted in
 *  all combinations, so a histogram of pairs is rd_bincount(RD_EXPRS(rd_bins(x, n, 0, 1),
 *  rd_bins(y, m, 0, 1)), RD_SHAPE(n, m), NULL).
 *  Labels and weights broadcast.  A label outside 0 to n - 1 is not counted.
 *  @param weights  NULL: each element counts 1.  Else the result has the type of rd_sum; weights
 *                  may be complex
 *  @return NULL as a reduction with `.by`, and on RD_ERR_ARGUMENT (no label). */
RD_API rd_expr *rd_bincount(rd_exprs labels, rd_shape groups, rd_expr *weights);
/** How many elements each of n bins from lo to hi has: rd_bincount() of rd_bins().
 *  numpy.histogram.
 *  @param weights  as for rd_bincount()
 *  @return (n) of i64, or of the type of rd_sum with weights.  NULL as these two functions. */
RD_API rd_expr *rd_histogram(rd_expr *x, int64_t n, double lo, double hi, rd_expr *weights);
/** x with values added at places of an axis, the transpose of rd_take().  numpy.add.at.
 *
 *  `values` broadcasts to the shape of rd_take(x, axis, index).  Values at equal places add up.
 *  Places below 0 count from the end, and places outside are ignored.  The result has the common
 *  type of x and values, which may be complex.
 *  @return NULL on RD_ERR_AXIS, RD_ERR_SHAPE, or RD_ERR_TYPE (places that are not integers). */
RD_API rd_expr *rd_scatter_add(rd_expr *x, int axis, rd_expr *index, rd_expr *values);

#ifdef __cplusplus
}
#endif
#endif
