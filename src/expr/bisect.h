/* bisect.h - bisection of rows that are in order: a map of a gather a step. */
#ifndef RD_EXPR_BISECT_H
#define RD_EXPR_BISECT_H
#include "expr/expr.h"

typedef struct rd_bisection {
    const char *call;
    rd_expr    *sorted; /* one row, or rows along its last axis; there are elements */
    rd_op       before; /* RD_OP_lt, RD_OP_le: does an element go before another one? */
    /* How operators and selections are made of these operands: rd_map_op() and rd_take_places(), or
     * those of plain ones. */
    rd_mapper *map;
    rd_expr *(*take)(rd_expr *x, int axis, rd_expr *index);
} rd_bisection;

/* Does an element go before x?  Of those from *at on that one by which *at is left or passed: *at, from
 * which the search begins, becomes its place.  NULL after recording a failure. */
rd_expr *rd_bisect(const rd_bisection *b, rd_expr **at, rd_expr *x);
#endif
