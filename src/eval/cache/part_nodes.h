/* part_nodes.h - how a part of a node is made: of the whole node, or anew of its operands' parts.
 * Blocks of rows (box_part.c) and of inner values (cut_parts.c) ask for parts in ways of their
 * own, and make them in these. */
#ifndef RD_EVAL_CACHE_PART_NODES_H
#define RD_EVAL_CACHE_PART_NODES_H
#include "expr/expr.h"

/* Elements first[a] <= i[a] < first[a] + extent[a] of x as a view of x; NULL after a failure. */
rd_expr *rd_part_viewed(rd_expr *x, const int64_t *first, const int64_t *extent);
/* The node of the same operation as x on these operands, with this extent; NULL after a failure. */
rd_expr *rd_part_again(const rd_expr *x, const int64_t *extent, rd_expr *const *in);
#endif
