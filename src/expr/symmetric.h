/* symmetric.h - expressions of pairs that are the same when both of a pair change places. */
#ifndef RD_EXPR_SYMMETRIC_H
#define RD_EXPR_SYMMETRIC_H
#include "expr/expr.h"

/* Is element (.. i .. j ..) that of (.. j .. i ..), with i along axis a and j along axis b?  The
 * signs of zeros do not count.  *moves becomes true if some element changes along these axes. */
bool rd_is_symmetric(const rd_expr *x, int a, int b, bool *moves);
/* Gives the elements of the expression where i = j, along one axis behind all others (diagonals.c). */
rd_expr *rd_of_selves(rd_expr *x, int a, int b);

/* The one axis of what is seen that axis k of a view goes along, by steps of 1 from its first
 * index on, and no other axis does; -1. */
int rd_axis_below(const rd_expr *view, int k);
/* The axis of what is reduced that axis k of the result was. */
int rd_axis_before(const rd_expr *fold, int k);
#endif
