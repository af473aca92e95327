/* symmetric.h - expressions of pairs that stay the same when both points of a pair are
 * exchanged. */
#ifndef RD_EXPR_SYMMETRIC_H
#define RD_EXPR_SYMMETRIC_H
#include "expr/expr.h"

/* True if element (.. i .. j ..) equals (.. j .. i ..), with i along axis a and j along axis b,
 * except for the sign of zeros.  *moves becomes true if some element changes along these axes. */
bool rd_is_symmetric(const rd_expr *x, int a, int b, bool *moves);
/* True if element (.. i .. j ..) is the opposite of (.. j .. i ..), up to rounding. */
bool rd_is_antisymmetric(const rd_expr *x, int a, int b);
/* The elements with i = j, along one axis behind all others (diagonals.c). */
rd_expr *rd_of_selves(rd_expr *x, int a, int b);

/* The axis of a view's operand along which axis k of the view goes, from index 0 by steps of 1,
 * and no other axis does; -1: there is none. */
int rd_axis_below(const rd_expr *view, int k);
/* The axis of a reduction's operand that is axis k of its result. */
int rd_axis_before(const rd_expr *fold, int k);
#endif
