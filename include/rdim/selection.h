/* rdim/selection.h - results whose size depends on the data: nonzero, compress, unique.
 *
 * Any expression is a mask: it is true where it is not 0, and NaN is true.  How many elements a
 * mask picks, only the data say; rd_count(mask, RD_ALL) asks first.  So these functions evaluate
 * now and make no nodes:
 *     rd_array out = { 0 };
 *     rd_compress(ctx, x, rd_gt(x, rd_num(ctx, 0)), &out);     // NumPy's x[x > 0]
 *     rd_expr *y = rd_adopt(ctx, &out);
 *
 * A zeroed output becomes fresh memory, as for rd_eval().  Otherwise the output has the result's
 * shape, or more room along the axis that the mask shortens.  Its shape and strides then say what
 * was filled.  Conversions and overlaps are as for rd_eval().
 *
 * A mask is evaluated a piece at a time and kept as one bit an element.  All threads count, then
 * fill. */
#ifndef RDIM_SELECTION_H
#define RDIM_SELECTION_H
#include "arrays.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The indices at which a mask is true, in C order: (n, rank) of i64, one row for each.
 *  numpy.argwhere.
 *  @return RD_OK, or the recorded error: RD_ERR_SHAPE (not enough room), and those of rd_eval(). */
RD_API rd_status rd_nonzero(rd_ctx *ctx, rd_expr *mask, rd_array *out);
/** The elements of x at which a mask is true, in C order: (n) of x's type.  The two broadcast.
 *  NumPy's x[mask].
 *  @return RD_OK, or the recorded error: RD_ERR_SHAPE (not enough room), and those of rd_eval(). */
RD_API rd_status rd_compress(rd_ctx *ctx, rd_expr *x, rd_expr *mask, rd_array *out);
/** x with those indices of an axis at which a mask is true.  The mask has rank 1 and the axis'
 *  extent.  numpy.compress.
 *  @return RD_OK, or the recorded error: RD_ERR_AXIS, RD_ERR_SHAPE (the mask's extent, not enough
 *          room), and those of rd_eval(). */
RD_API rd_status rd_compress_axis(rd_ctx *ctx, rd_expr *x, int axis, rd_expr *mask, rd_array *out);
/** The flat place, in C order, of the first true element of a mask.  The evaluation ends soon after
 *  it is found.
 *  @return -1 if no element is true, or on failure, which is recorded. */
RD_API int64_t rd_find_first(rd_ctx *ctx, rd_expr *mask);
/** The different values of x, ascending, with all NaN as one at the end.  numpy.unique with
 *  return_counts and return_inverse.
 *
 *  @param values   (n) of x's type
 *  @param counts   NULL, or how often each value occurs: (n) of i64
 *  @param inverse  NULL, or the index into `values` of each element, i64 of x's shape:
 *                  rd_take(values, 0, inverse) is x
 *  @return RD_OK, or the recorded error: RD_ERR_TYPE (complex), RD_ERR_SHAPE (not enough room), and
 *          those of rd_eval(). */
RD_API rd_status rd_unique(rd_ctx *ctx, rd_expr *x, rd_array *values, rd_array *counts,
                           rd_array *inverse);

#ifdef __cplusplus
}
#endif
#endif
