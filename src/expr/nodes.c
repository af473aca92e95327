/* nodes.c - a list of the nodes of a graph, with a hash table of them.  The search is iterative,
 * as a graph may be too deep for recursion. */
#include "expr/nodes.h"
#include <string.h>

/* The slot of a node in the list's hash table, or the empty slot where it belongs, by linear
 * probing.  The table has twice as many slots as the list has room, so one is empty. */
static rd_expr **find_slot(rd_node_list *list, const rd_expr *x)
{
    uint64_t k = x->serial * UINT64_C(0x9E3779B97F4A7C15) >> 20;

    while (list->slot[k % (uint64_t)(2 * list->room)] &&
           list->slot[k % (uint64_t)(2 * list->room)] != x)
        k++;
    return &list->slot[k % (uint64_t)(2 * list->room)];
}

/* Doubles the room of the list and rebuilds its hash table.  False: no memory, which is
 * recorded. */
static bool grow(rd_ctx *ctx, rd_node_list *list)
{
    int64_t   room = list->room ? 2 * list->room : 64;
    rd_expr **at   = rd_alloc(ctx, 3 * room * (int64_t)sizeof *at);

    if (!at)
        return false;
    if (list->n)
        memcpy(at, list->at, (size_t)list->n * sizeof *at);
    rd_free(ctx, list->at);
    *list = (rd_node_list){ .at = at, .slot = at + room, .n = list->n, .room = room };
    for (int64_t i = 0; i < list->n; i++)
        *find_slot(list, at[i]) = at[i];
    return true;
}

/* Adds a node unless the list has it.  False: no memory. */
static bool add_node(rd_ctx *ctx, rd_node_list *list, rd_expr *x)
{
    if (list->n == list->room && !grow(ctx, list))
        return false;
    rd_expr **slot = find_slot(list, x);
    if (!*slot)
        list->at[list->n++] = *slot = x;
    return true;
}

/* Lists all nodes below the results, each once: adds the results, then the operands of each listed
 * node.  False: no memory, which is recorded. */
bool rd_list_nodes(rd_ctx *ctx, rd_results results, rd_node_list *list)
{
    bool ok = true;

    for (int32_t i = 0; ok && i < results.n; i++)
        ok = add_node(ctx, list, results.at[i].expr);
    for (int64_t i = 0; ok && i < list->n; i++)
        for (int k = 0; ok && k < list->at[i]->n_in; k++)
            ok = !list->at[i]->in[k] || add_node(ctx, list, list->at[i]->in[k]);
    return ok;
}

/* Frees a list of nodes; the nodes stay. */
void rd_free_nodes(rd_ctx *ctx, rd_node_list *list)
{
    rd_free(ctx, list->at);
}
