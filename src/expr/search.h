/* search.h - places in sorted rows, and runs of equal elements there. */
#ifndef RD_EXPR_SEARCH_H
#define RD_EXPR_SEARCH_H
#include "expr/expr.h"

/* Counts the elements of a sorted row that are before x (RD_OP_lt), or not behind it (RD_OP_le):
 * i64, 0 for NaN.  `sorted` is one row, or has rows along its last axis and x's rank.  NULL after
 * recording a failure for `call`. */
rd_expr *rd_count_before(const char *call, rd_expr *sorted, rd_expr *x, rd_op before);
/* True at each element of a sorted row that differs from the one before it, and at the first
 * one.  All NaN, which lie at the end, are equal.  NULL after recording a failure for `call`. */
rd_expr *rd_begins_run(const char *call, rd_expr *sorted);
#endif
