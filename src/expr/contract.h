/* contract.h - sums of products of operands whose axes have labels: what products of matrices,
 * tensordot and einsum come to. */
#ifndef RD_EXPR_CONTRACT_H
#define RD_EXPR_CONTRACT_H
#include "expr/expr.h"

enum { RD_MAX_LABELS = 64 };
typedef uint64_t rd_labels; /* a set of them */

/* An operand: its axis a has label[a].  A label named twice is the diagonal. */
typedef struct rd_term {
    rd_expr *x;
    int8_t   label[RD_MAX_RANK];
} rd_term;

/* The product of all terms, summed over the labels that `out` does not name; its axes are those of
 * `out`.  Axes of one label have one extent, which the caller has checked, or 1, which repeats.
 * `terms` is used up.  The type is that to which the operands promote, and the sum's; bools are
 * joined by `and` and `or`.  NULL after recording an error for `call`. */
rd_expr *rd_contract(const char *call, int n, rd_term *terms, int n_out, const int8_t *out);
#endif
