/* sort_graph.c - topological sort of the values of a graph, operands first.  Values that no result
 * needs are dropped.
 *
 * Fields. A READ is of a leaf's `slot`, or of another value, its `target`, -1: it is not. An
 * operand in[k] of -1 is not there. A term of a subscript with `axis` -1 is a gathered index, the
 * value of an array. A value is a result if `out` >= 0, and a part of a concatenation if `into` >=
 * 0. */
#include "eval/ir.h"
#include <string.h>

/* A value on the stack, and how many of its operands were visited. */
typedef struct step {
    int32_t value, child;
} step;

/* The state of the depth-first search. */
typedef struct sorting {
    const rd_graph *graph;
    /* old number -> new; -1: not visited, -2: its operands are on the stack */
    int32_t *renamed;
    int32_t *order; /* new number -> old */
    step    *stack;
    int32_t  n; /* values in order so far */
} sorting;

/* The k-th value that v needs, over its operands, then the value that it reads (target), then its
 * gathered indices; -1: there are fewer. */
static int needed(const rd_value *v, int k)
{
    for (int i = 0; i < v->n_in; i++)
        if (v->in[i] >= 0 && k-- == 0)
            return v->in[i];
    if (v->target >= 0 && k-- == 0)
        return v->target;
    for (int d = 0; d < v->n_at; d++)
        for (int t = 0; t < v->at[d].n_term; t++)
            if (v->at[d].term[t].axis < 0 && k-- == 0)
                return v->at[d].term[t].value;
    return -1;
}

/* Appends value v to the order behind all values that it needs: a depth-first search with an
 * explicit stack, because graphs may be long chains. s->renamed[v] is its new number, -1: not
 * visited, -2: on the stack. needed() is the next value that it needs, -1: no more; `child`
 * counts them. s->order lists the values in the new order. */
static void sort_from(sorting *s, int v)
{
    int n = 0;

    if (s->renamed[v] != -1)
        return;
    s->stack[n++] = (step){ v, 0 };
    s->renamed[v] = -2;
    while (n) {
        step *top   = &s->stack[n - 1];
        int   child = needed(&s->graph->value[top->value], top->child++);

        if (child < 0) {
            s->renamed[top->value] = s->n;
            s->order[s->n++]       = top->value;
            n--;
        } else if (s->renamed[child] == -1) {
            s->renamed[child] = -2;
            s->stack[n++]     = (step){ child, 0 };
        }
    }
}

/* Replaces old numbers of values by new ones in all fields of v: operands, the value it reads, the
 * storage it belongs to (into), gathered indices. */
static void rename_values(const sorting *s, rd_value *v)
{
    for (int k = 0; k < v->n_in; k++)
        if (v->in[k] >= 0)
            v->in[k] = s->renamed[v->in[k]];
    if (v->target >= 0)
        v->target = s->renamed[v->target];
    if (v->into >= 0)
        v->into = s->renamed[v->into];
    for (int d = 0; d < v->n_at; d++)
        for (int t = 0; t < v->at[d].n_term; t++)
            if (v->at[d].term[t].axis < 0)
                v->at[d].term[t].value = s->renamed[v->at[d].term[t].value];
}

/* Sorts the values that the roots need, operands first, drops the others, and renumbers the roots.
 * False: no memory. The new list has room for one value more than before. */
bool rd_graph_sort(rd_graph *graph, int n_root, int32_t *root)
{
    size_t    n    = (size_t)graph->n_value + 1;
    sorting   s    = { .graph   = graph,
                       .renamed = rd_pool_get(graph->pool, n * sizeof *s.renamed),
                       .order   = rd_pool_get(graph->pool, n * sizeof *s.order),
                       .stack   = rd_pool_get(graph->pool, n * sizeof *s.stack) };
    rd_value *list = rd_pool_raw(graph->pool, n * sizeof *list);

    if (!s.renamed || !s.order || !s.stack || !list)
        return false;
    memset(s.renamed, -1, n * sizeof *s.renamed);
    for (int k = 0; k < n_root; k++) {
        sort_from(&s, root[k]);
        root[k] = s.renamed[root[k]];
    }
    for (int i = 0; i < s.n; i++) {
        list[i] = graph->value[s.order[i]];
        rename_values(&s, &list[i]);
    }
    graph->value      = list;
    graph->n_value    = s.n;
    graph->room_value = (int32_t)n;
    return true;
}

/* Sorts the graph with its results as roots, found by their numbers `out`.  False: no memory. */
bool rd_graph_sort_results(rd_graph *g)
{
    int32_t *root = rd_pool_get(g->pool, (size_t)g->n_result * sizeof *root);

    if (!root)
        return false;
    for (int i = 0; i < g->n_value; i++)
        if (g->value[i].out >= 0)
            root[g->value[i].out] = i;
    return rd_graph_sort(g, g->n_result, root);
}
