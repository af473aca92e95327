/* rdim/joins.h - arrays made of other arrays: joined, padded, repeated, cut into parts.
 *
 * The functions are made of views and maps and fuse as these do, with one exception.  rd_concat,
 * rd_stack, rd_pad and rd_roll join parts.  As a result these are written in place, without another
 * copy.  Maps and reductions read a few parts where they lie, as loops are split where parts meet.
 * Other readers, such as sorts, scans and matrix products, have an array of all parts stored first;
 * rd_explain() shows a stored array in a `why:` line.
 *
 * All functions take complex operands. */
#ifndef RDIM_JOINS_H
#define RDIM_JOINS_H
#include "shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Parts joined along an axis that they have: rd_concat(0, RD_EXPRS(a, b, c)).  Other extents must
 *  agree; types promote.  More than 48 parts are joined in groups first.  numpy.concatenate.
 *  @return NULL on RD_ERR_AXIS, RD_ERR_SHAPE, or RD_ERR_ARGUMENT (no part). */
RD_API rd_expr *rd_concat(int axis, rd_exprs parts);
/** Parts of one shape joined along a new axis: rd_stack(0, RD_EXPRS(a, b)).  numpy.stack.
 *  @return NULL on RD_ERR_AXIS, RD_ERR_SHAPE, or RD_ERR_ARGUMENT (no part). */
RD_API rd_expr *rd_stack(int axis, rd_exprs parts);

/** What lies beyond the ends of a padded axis.  The examples continue 1 2 3 to the left. */
typedef enum rd_pad_mode {
    RD_PAD_CONSTANT,  /* a value                                                 */
    RD_PAD_EDGE,      /* the element at the end:                  1 1 | 1 2 3    */
    RD_PAD_REFLECT,   /* mirrored, without the element at the end: 3 2 | 1 2 3   */
    RD_PAD_SYMMETRIC, /* mirrored, with the element at the end:   2 1 | 1 2 3    */
    RD_PAD_WRAP       /* the elements of the other end:           2 3 | 1 2 3    */
} rd_pad_mode;
/** x with `before` and `after` more elements along an axis.  Each mode takes any numbers of them.
 *  numpy.pad.
 *
 *  @param value  for RD_PAD_CONSTANT: a number, or an array that broadcasts to x with extent 1
 *                along the axis.  It takes x's type.  NULL: 0
 *  @return NULL on RD_ERR_AXIS, RD_ERR_ARGUMENT (a negative number, no such mode), RD_ERR_SHAPE (no
 *          element to repeat), or RD_ERR_TYPE (the value does not fit). */
RD_API rd_expr *rd_pad(rd_expr *x, int axis, int64_t before, int64_t after, rd_pad_mode mode,
                       rd_expr *value);
/** Elements moved by `shift` along an axis; those that leave come in at the other end.  numpy.roll.
 *  @return NULL on RD_ERR_AXIS. */
RD_API rd_expr *rd_roll(rd_expr *x, int axis, int64_t shift);
/** Each element `times` times in a row, along an axis.  numpy.repeat.
 *  @return NULL on RD_ERR_AXIS, RD_ERR_ARGUMENT (times is negative), or RD_ERR_SHAPE (overflow). */
RD_API rd_expr *rd_repeat(rd_expr *x, int axis, int64_t times);
/** The whole of x, times.at[k] times along axis k.  Fewer numbers are those of the last axes; more
 *  make new axes in front.  numpy.tile.
 *  @return NULL on RD_ERR_ARGUMENT (a number is negative), or RD_ERR_SHAPE (overflow). */
RD_API rd_expr *rd_tile(rd_expr *x, rd_shape times);
/** Cuts x into n parts along an axis.  Where n does not divide the extent, the first parts are
 *  longer by one.  numpy.array_split.
 *
 *  @param parts  room for n expressions; all NULL if the operand or the axis is wrong
 *  @return false on RD_ERR_AXIS, or RD_ERR_ARGUMENT (n is below 1). */
RD_API bool rd_split(rd_expr *x, int axis, int32_t n, rd_expr **parts);
/** Rows of numbers as the coordinates of a grid.  grids[k] has the shape of the whole grid, and the
 *  row in.at[k] along axis k.  numpy.meshgrid with indexing="ij".
 *
 *  @param grids  room for as many expressions as rows; all NULL on failure
 *  @return false on RD_ERR_SHAPE (a rank above 1, more than 32 rows). */
RD_API bool rd_meshgrid(rd_exprs in, rd_expr **grids);
/** The lower triangle: x where column - row <= k in the last two axes, and 0 elsewhere, also in
 *  place of NaN.  numpy.tril.
 *  @return NULL on RD_ERR_SHAPE (the rank is below 2). */
RD_API rd_expr *rd_tril(rd_expr *x, int64_t k);
/** The upper triangle: x where column - row >= k in the last two axes, and 0 elsewhere, also in
 *  place of NaN.  numpy.triu.
 *  @return NULL on RD_ERR_SHAPE (the rank is below 2). */
RD_API rd_expr *rd_triu(rd_expr *x, int64_t k);
/** An (n, m) matrix with 1 where column - row <= k and 0 elsewhere, of the type.  numpy.tri.
 *  @return NULL on RD_ERR_SHAPE (an extent is negative), or RD_ERR_TYPE. */
RD_API rd_expr *rd_tri(rd_ctx *ctx, int64_t n, int64_t m, int64_t k, rd_dtype type);
/** The Kronecker product: copies of y, each times an element of x.  The extent of an axis is the
 *  product of both extents; an operand with fewer axes has the last ones.  numpy.kron.
 *  @return NULL on RD_ERR_SHAPE (a rank is above 16). */
RD_API rd_expr *rd_kron(rd_expr *x, rd_expr *y);
/** Differences of neighbours along an axis, x[i + 1] - x[i], taken n times.  For bools: whether
 *  neighbours differ.  numpy.diff.
 *  @return NULL on RD_ERR_AXIS, or RD_ERR_ARGUMENT (n is negative). */
RD_API rd_expr *rd_diff(rd_expr *x, int axis, int32_t n);

#ifdef __cplusplus
}
#endif
#endif
