/* rdim/views.h - views: slices, gathers, other orders and shapes of an expression's elements.
 *
 * Every expression can be viewed, evaluated or not.  A view computes nothing and takes no memory; a
 * slice of a sum sums that slice only.  The result has the type of x.
 *
 * An axis has indices from its origin on.  The origin is 0, unless a leaf (.origin) or rd_reindex()
 * says another.
 * - Calls that take an index take the axis' own: rd_select, rd_slice, rd_slice_axis, rd_take,
 *   rd_take_along, rd_scatter_add, rd_at.
 * - Calls that give an index give the axis' own: rd_coord, argmin and argmax of one axis,
 *   rd_argsort, rd_searchsorted, rd_nonzero, rd_stored_at.
 * - An index below 0 counts from the end only on axes with origin 0.  Elsewhere -1 is index -1.
 * - Operands that meet must have the same indices along an axis, else RD_ERR_SHAPE names both
 *   ranges.  An axis that repeats, or has extent 1, fits any.
 * - An axis that a result has whole from an operand keeps its indices, also in a fresh rd_array
 *   (.origin).  Any other axis begins at 0: a slice other than ":", a window, a joined axis.
 * - Formulas, files and flat places count from 0. */
#ifndef RDIM_VIEWS_H
#define RDIM_VIEWS_H
#include "shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A slice, by NumPy's slice text with one part for each axis: "3, :, ::-1, 2:10:2, ..., new".
 *
 *  A number drops its axis.  `new` makes an axis of extent 1.  Missing parts mean ":".
 *  @return NULL on RD_ERR_TEXT (with a caret under the character), RD_ERR_AXIS (an index outside,
 *          too many parts), or RD_ERR_SHAPE (the rank is above 32). */
RD_API rd_expr *rd_slice(rd_expr *x, const char *text);
/** Element i of an axis, which the result lacks: x[..., i, ...].  i below 0 counts from the end.
 *  @return NULL on RD_ERR_AXIS. */
RD_API rd_expr *rd_select(rd_expr *x, int axis, int64_t i);
/** A start or stop of rd_slice_axis(): up to the end, in the direction of step. */
#define RD_OPEN INT64_MIN
/** The elements start, start + step, ... before stop along an axis, as x[start:stop:step] in
 *  Python.  Bounds outside the axis are cut to it.
 *  @return NULL on RD_ERR_AXIS, or RD_ERR_ARGUMENT (step is 0). */
RD_API rd_expr *rd_slice_axis(rd_expr *x, int axis, int64_t start, int64_t stop, int64_t step);
/** Elements at given indices of an axis: x[..., index[...], ...].  numpy.take.
 *
 *  `index` has any integer type and any rank; its axes replace `axis`.  Indices below 0 count from
 *  the end.  An index outside makes the evaluation fail with RD_ERR_AXIS, unless it cannot change
 *  what is read (the axis has one element, or repeats).
 *  @return NULL on RD_ERR_AXIS, RD_ERR_TYPE or RD_ERR_SHAPE. */
RD_API rd_expr *rd_take(rd_expr *x, int axis, rd_expr *index);
/** One element of x along an axis for each element of index: x[i, index[i, j], k] for axis 1.
 *  numpy.take_along_axis.
 *
 *  `index` has x's rank.  The other axes of the two broadcast.  Indices below 0 and outside: see
 *  rd_take().  The value of class label[i] in row i: rd_take_along(x, 1, rd_expand(label, 1)).
 *  @return NULL on RD_ERR_AXIS, RD_ERR_TYPE or RD_ERR_SHAPE. */
RD_API rd_expr *rd_take_along(rd_expr *x, int axis, rd_expr *index);
/** Axes in another order: axis k of the result is axis order.at[k] of x.  numpy.transpose.
 *  @return NULL on RD_ERR_AXIS (an axis is missing or occurs twice). */
RD_API rd_expr *rd_permute(rd_expr *x, rd_index order);
/** The last two axes exchanged; x itself if its rank is below 2.  numpy.matrix_transpose. */
RD_API rd_expr *rd_transpose(rd_expr *x);
/** The same elements, in C order, with another shape.  One extent may be -1 and is then computed.
 *  numpy.reshape.
 *  @return NULL on RD_ERR_SHAPE. */
RD_API rd_expr *rd_reshape(rd_expr *x, rd_shape shape);
/** x repeated to a shape: axes of extent 1 and missing leading axes repeat.  numpy.broadcast_to.
 *  @return NULL on RD_ERR_SHAPE. */
RD_API rd_expr *rd_broadcast(rd_expr *x, rd_shape shape);
/** A new axis of extent 1 before an axis of x.  `axis` is the place in the result, so the rank of
 *  x, or -1, makes the last axis.  numpy.expand_dims.
 *  @return NULL on RD_ERR_AXIS, or RD_ERR_SHAPE (the rank is above 32). */
RD_API rd_expr *rd_expand(rd_expr *x, int axis);
/** x without the axes d, which must have extent 1.  numpy.squeeze.
 *  @return NULL on RD_ERR_AXIS, or RD_ERR_SHAPE (an extent is not 1). */
RD_API rd_expr *rd_squeeze(rd_expr *x, rd_dims d);
/** x with the order of elements reversed along the axes d.  numpy.flip.
 *  @return NULL on RD_ERR_AXIS. */
RD_API rd_expr *rd_flip(rd_expr *x, rd_dims d);
/** The diagonal of two axes, x[..., i, ..., i + offset, ...], as a new last axis.  An offset below
 *  0 is a diagonal below the main one.  numpy.diagonal.
 *  @return NULL on RD_ERR_AXIS. */
RD_API rd_expr *rd_diagonal(rd_expr *x, int axis1, int axis2, int64_t offset);
/** Windows of n neighbours, one every `step` elements along an axis, as a new last axis of extent
 *  n.  numpy.lib.stride_tricks.sliding_window_view.
 *
 *  The axis gets (extent - n) / step + 1 windows, or none if n is above the extent.  To reduce each
 *  n neighbours to one (downsample): rd_mean(rd_window(x, axis, n, n), RD_DIMS(-1)).
 *  @return NULL on RD_ERR_AXIS, or RD_ERR_ARGUMENT (n or step is below 1). */
RD_API rd_expr *rd_window(rd_expr *x, int axis, int64_t n, int64_t step);

/** x with first.at[a] as the first index along axis a; all 0 makes usual axes.  It costs nothing.
 *  @return NULL on RD_ERR_AXIS (the number of axes differs), or RD_ERR_ARGUMENT (beyond 2^62). */
RD_API rd_expr *rd_reindex(rd_expr *x, rd_index first);
/** The first index along each axis; .n == -1 for NULL. */
RD_API rd_index rd_origin_of(const rd_expr *x);

#ifdef __cplusplus
}
#endif
#endif
