/* all_pairs.h - covariances of each row of one operand with each row of another, by a matrix
 * product. */
#ifndef RD_EXPR_ALL_PAIRS_H
#define RD_EXPR_ALL_PAIRS_H
#include "expr/reduce.h"

/* The operands before they were broadcast to each other, with all axes and of one type. */
typedef struct rd_all_pairs {
    const rd_folding *f;                 /* the reduction of the broadcast operands */
    rd_expr          *side[2], *weights; /* both operands; weights: NULL without */
} rd_all_pairs;

/* True if the reduction of x and y covers so many pairs that a matrix product pays; then it
 * fills in `pairs`.  Masks and labels are refused, and so are weights that differ between pairs. */
bool rd_find_all_pairs(rd_all_pairs *pairs, const rd_folding *f, rd_expr *x, rd_expr *y);
/* The covariances of all pairs, and the standard deviations of the rows of one side.  NULL after
 * recording a failure. */
rd_expr *rd_covariance_of_all(const rd_all_pairs *pairs, rd_dtype type);
rd_expr *rd_deviation_of_side(const rd_all_pairs *pairs, int number, rd_dtype type);
#endif
