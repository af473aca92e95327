/* maps.h - short names for maps in compositions: operators of one operand, of two, and a choice. */
#ifndef RD_EXPR_MAPS_H
#define RD_EXPR_MAPS_H
#include "expr/expr.h"

/* Applies an operator to one operand of any kind; failures name `call`. */
static inline rd_expr *map_1(rd_op op, const char *call, rd_expr *x)
{
    return rd_map_op(op, call, 1, &x);
}

/* Applies an operator to two operands of any kind; failures name `call`. */
static inline rd_expr *map_2(rd_op op, const char *call, rd_expr *x, rd_expr *y)
{
    return rd_map_op(op, call, 2, (rd_expr *const[]){ x, y });
}

/* Makes the map cond ? yes : no, element by element; failures name `call`. */
static inline rd_expr *map_where(const char *call, rd_expr *cond, rd_expr *yes, rd_expr *no)
{
    return rd_map_op(RD_OP_where, call, 3, (rd_expr *const[]){ cond, yes, no });
}
#endif
