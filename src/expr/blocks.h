/* blocks.h - where the range lists of a block mask lie in memory. */
#ifndef RD_EXPR_BLOCKS_H
#define RD_EXPR_BLOCKS_H
#include "expr/expr.h"

/* Returns how many bytes behind the table's first element the lists begin: those of row
 * clusters, or those of column clusters. */
int64_t rd_blocks_lists(const rd_expr *table, bool columns);
#endif
