/* bisect.h - bisection of sorted rows: each step is a map that reads one gathered element. */
#ifndef RD_EXPR_BISECT_H
#define RD_EXPR_BISECT_H
#include "expr/expr.h"

typedef struct rd_bisection {
    const char *call;   /* for failures */
    rd_expr    *sorted; /* not empty: one row, or rows along the last axis */
    rd_op       before; /* RD_OP_lt or RD_OP_le: which elements are before x */
    /* How operators and gathers are made of these operands: by rd_map_op() and rd_take_places(),
     * or by the functions for plain operands. */
    rd_mapper *map;
    rd_expr *(*take)(rd_expr *x, int axis, rd_expr *index);
} rd_bisection;

/* Searches from *at on.  Sets *at to the last position that bisection did not skip, and returns
 * whether the element there is before x.  NULL after recording a failure. */
rd_expr *rd_bisect(const rd_bisection *b, rd_expr **at, rd_expr *x);
#endif
