/* nodes.h - all nodes below some results, each once. */
#ifndef RD_EXPR_NODES_H
#define RD_EXPR_NODES_H
#include "expr/expr.h"

/* The nodes in breadth-first order: results first, then the operands of each node in turn.
 * Zeroed by the caller. */
typedef struct rd_node_list {
    rd_expr **at, **slot; /* the n nodes; hash table of them, with 2 * room slots */
    int64_t   n, room;    /* nodes, and how many fit in `at` */
} rd_node_list;

/* Lists all nodes below the results.  False: no memory, which is recorded. */
bool rd_list_nodes(rd_ctx *ctx, rd_results results, rd_node_list *list);
void rd_free_nodes(rd_ctx *ctx, rd_node_list *list);

/* What stands for a node while it is cloned: a node of the other context, or one below `from`,
 * whose clone is taken. */
typedef struct rd_replacement {
    const rd_expr *from;
    rd_expr       *to;
} rd_replacement;

/* Copies x with all nodes below it into another context, each once, with replacements (clone.c).
 * NULL after recording a failure. */
rd_expr *rd_clone_with(rd_ctx *ctx, rd_expr *x, int n, const rd_replacement *with);
#endif
