/* rdim/products.h - products of vectors and matrices.
 *
 * Products are made of views, a map and a sum, and fuse as these do.  Large products of matrices
 * may be run by a BLAS; see rd_eval_opts.deterministic.
 *
 * The result has the type to which the operands promote, and integers wrap in it.  Narrow floats
 * (f16, bf16, f8e4m3) are multiplied and summed in f32 and rounded once.  For bools, `and`
 * multiplies and `or` adds.  Complex operands are taken.
 *
 * Each function returns NULL on RD_ERR_SHAPE, RD_ERR_AXIS, and RD_ERR_ARGUMENT (operands of two
 * contexts). */
#ifndef RDIM_PRODUCTS_H
#define RDIM_PRODUCTS_H
#include "shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The matrix product a @ b, over the last axis of a and the last but one of b.  numpy.matmul.
 *
 *  The axes before these broadcast.  An a of rank 1 is one row, a b of rank 1 is one column, and
 *  the result lacks that axis.  An operand of rank 0 is RD_ERR_SHAPE. */
RD_API rd_expr *rd_matmul(rd_expr *a, rd_expr *b);
/** A matrix product in another semiring.
 *
 *  "min" and "add" find shortest paths, "any" and "and" what can be reached, "max" and "minimum"
 *  the widest paths.  The product of two sparse matrices with .stored has elements where both have,
 *  and is sparse itself, as rd_matmul() of two sparse matrices is (docs/sparse.md).
 *  @param add       the name of a reduction, as for rd_reduce_name()
 *  @param multiply  the name of a map of two operands, as in function text
 *  @return NULL also on RD_ERR_ARGUMENT (no such name). */
RD_API rd_expr *rd_semiring(rd_expr *a, rd_expr *b, const char *add, const char *multiply);
/** The product over the last axis of a and the last but one of b.  Up to rank 2 it is rd_matmul();
 *  beyond, the result has all other axes of a, then those of b.  Two numbers are multiplied.
 *  numpy.dot. */
RD_API rd_expr *rd_dot(rd_expr *a, rd_expr *b);
/** The sum of products along one axis of both; -1 is the last axis.  The other axes broadcast.  If
 *  the ranks differ, count the axis from the end.  A complex a is conjugated.  numpy.vecdot. */
RD_API rd_expr *rd_vecdot(rd_expr *a, rd_expr *b, int axis);
/** The sum of products over axis of_a.at[k] of a together with axis of_b.at[k] of b, for all k.
 *  The result has the other axes of a, then those of b.  numpy.tensordot.
 *      rd_tensordot(a, b, RD_INDEX(2, 0), RD_INDEX(0, 1)) */
RD_API rd_expr *rd_tensordot(rd_expr *a, rd_expr *b, rd_index of_a, rd_index of_b);
/** The products a[i] b[j] of all elements of a and b in C order, of shape (size a, size b).
 *  numpy.outer. */
RD_API rd_expr *rd_outer(rd_expr *a, rd_expr *b);
/** The sum along the diagonal that rd_diagonal() has, in the type of rd_sum.  numpy.trace. */
RD_API rd_expr *rd_trace(rd_expr *x, int axis1, int axis2, int64_t offset);
/** A sum of products by Einstein's notation: "ik,kj->ij" is the matrix product.  numpy.einsum.
 *
 *  A letter names each axis of each operand.  Equal letters are one index, and an index that the
 *  result does not name is summed.  A letter twice in one operand is its diagonal; "..." stands for
 *  axes that broadcast.  Extents of one letter are equal, or 1 in an operand, which then repeats.
 *  Without "->" the result has the axes of "...", then the letters that occur once, A to Z before a
 *  to z.  Spaces do not count.
 *  Three and more operands are multiplied in pairs where that is less work than one pass; their
 *  sizes decide the order.
 *  @return NULL on RD_ERR_TEXT and RD_ERR_SHAPE, with a caret under the character. */
RD_API rd_expr *rd_einsum_text(const char *text, rd_exprs operands);

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/** rd_einsum("ik,kj->ij", a, b).  See rd_einsum_text(). */
#define rd_einsum(text, ...) rd_einsum_text(text, RD_EXPRS(__VA_ARGS__))
#endif
#endif
