/* contract.h - tensor contraction: sums of products of operands with labelled axes.  Matrix
 * products, tensordot and einsum use it. */
#ifndef RD_EXPR_CONTRACT_H
#define RD_EXPR_CONTRACT_H
#include "expr/expr.h"

enum { RD_MAX_LABELS = 64 };
typedef uint64_t rd_labels; /* a set of labels */

/* An operand: its axis a has label[a].  A label named twice is the diagonal. */
typedef struct rd_term {
    rd_expr *x;
    int8_t   label[RD_MAX_RANK];
} rd_term;

/* Multiplies all terms and sums over the labels that `out` does not name; the result has the
 * axes of `out`.  Axes of one label have the same extent, which the caller has checked, or 1,
 * which repeats.  It overwrites `terms`.  The type is the promoted type of the operands; bools
 * are combined by `and` and `or`.  NULL after recording an error for `call`. */
rd_expr *rd_contract(const char *call, int n, rd_term *terms, int n_out, const int8_t *out);
#endif
