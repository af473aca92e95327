/* along.h - positions along an axis: where the elements of another operand lie. */
#ifndef RD_EXPR_ALONG_H
#define RD_EXPR_ALONG_H
#include "expr/expr.h"

/* True if x can give positions of the elements of y along `axis`.  It is a number (their
 * distance), or of rank 1, or of y's rank.  False after recording what is wrong. */
bool rd_positions_ok(const char *call, const rd_expr *x, const rd_expr *y, int axis);
/* Reshapes positions of rank 1 so that they lie along `axis` of y; others stay as they are. */
rd_expr *rd_positions_along(rd_expr *x, const rd_expr *y, int axis);
/* Casts ints to f64, as their differences and sums would wrap; returns others as they are. */
rd_expr *rd_real_numbers(rd_expr *x);
#endif
