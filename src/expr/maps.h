/* maps.h - maps by operator, as compositions say them: of one operand, of two, a choice. */
#ifndef RD_EXPR_MAPS_H
#define RD_EXPR_MAPS_H
#include "expr/expr.h"

static inline rd_expr *map_1(rd_op op, const char *call, rd_expr *x)
{
    return rd_map_op(op, call, 1, &x);
}

static inline rd_expr *map_2(rd_op op, const char *call, rd_expr *x, rd_expr *y)
{
    return rd_map_op(op, call, 2, (rd_expr *const[]){ x, y });
}

static inline rd_expr *map_where(const char *call, rd_expr *cond, rd_expr *yes, rd_expr *no)
{
    return rd_map_op(RD_OP_where, call, 3, (rd_expr *const[]){ cond, yes, no });
}
#endif
