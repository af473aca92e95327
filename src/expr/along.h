/* along.h - positions along an axis: where the elements of another operand lie. */
#ifndef RD_EXPR_ALONG_H
#define RD_EXPR_ALONG_H
#include "expr/expr.h"

/* Does x say positions of the elements of y along `axis`: a number, their distance; of rank 1; or of
 * y's rank?  False after recording what is wrong. */
bool rd_positions_ok(const char *call, const rd_expr *x, const rd_expr *y, int axis);
/* x along `axis` of y: positions of rank 1 lie there. */
rd_expr *rd_positions_along(rd_expr *x, const rd_expr *y, int axis);
/* Ints as f64, as their differences and sums would wrap; others as they are. */
rd_expr *rd_real_numbers(rd_expr *x);
#endif
