/* blocks.h - what follows the table of a mask by blocks in memory. */
#ifndef RD_EXPR_BLOCKS_H
#define RD_EXPR_BLOCKS_H
#include "expr/expr.h"

/* How many bytes behind the table's first element the lists of row clusters, or of column clusters,
 * begin. */
int64_t rd_blocks_lists(const rd_expr *table, bool columns);
#endif
