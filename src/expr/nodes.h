/* nodes.h - all nodes below some results, each once. */
#ifndef RD_EXPR_NODES_H
#define RD_EXPR_NODES_H
#include "expr/expr.h"

/* In the order they were found: results, then operands of each in turn.  Zeroed before. */
typedef struct rd_node_list {
    rd_expr **at, **slot; /* and a hash table of them */
    int64_t   n, room;
} rd_node_list;

/* False: no memory, which is recorded. */
bool rd_list_nodes(rd_ctx *ctx, rd_results results, rd_node_list *list);
void rd_free_nodes(rd_ctx *ctx, rd_node_list *list);
#endif
