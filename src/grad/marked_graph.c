/* marked_graph.c - the graph below an expression, for both modes of differentiation, and what
 * their rules are built of.
 *
 * Words. The origin of an axis is its first index, 0 unless the caller says another. */
#include "expr/complex.h"
#include "expr/lists.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/plain.h"
#include "grad/derivative.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Orders nodes by serial number, for qsort() and bsearch(): operands are older than their
 * readers. */
static int compare_serials(const void *a, const void *b)
{
    const uint32_t p = (*(rd_expr *const *)a)->serial, q = (*(rd_expr *const *)b)->serial;

    return (p > q) - (p < q);
}

/* Returns the place of a node in the graph's list, which is sorted by serial number; -1: it is
 * not below y. */
int64_t rd_grad_find(const rd_grad_graph *graph, const rd_expr *x)
{
    rd_expr *const *found =
        bsearch(&x, graph->list.at, (size_t)graph->list.n, sizeof *graph->list.at, compare_serials);

    return found ? found - graph->list.at : -1;
}

/* True if a node of this type can change by a little: floats and complex numbers. Ints and bools
 * have no derivative. */
static bool is_smooth(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT || rd_dtype_is_complex(type);
}

/* True if a derivative with respect to x, operand k of the caller, can be meant: it has a float
 * type, and is no number, which is the same node wherever it occurs. False after recording why
 * not. */
static bool operand_ok(const rd_grad_graph *graph, int k, const rd_expr *x)
{
    if (!is_smooth(x->type))
        rd_fail(graph->ctx, RD_ERR_TYPE,
                "%s: operand %d is %s, and derivatives are of floats; rd_cast makes one",
                graph->call, k, rd_dtype_name(x->type));
    else if (x->kind == RD_EXPR_NUMBER)
        rd_fail(graph->ctx, RD_ERR_ARGUMENT,
                "%s: operand %d is a number, which is the same wherever it occurs; use a leaf or "
                "an input of rank 0",
                graph->call, k);
    else
        return true;
    return false;
}

/* Returns the array of pairs (re, im) below a complex leaf, of which its real and imaginary
 * parts are views; NULL: x is no such leaf. */
rd_expr *rd_grad_pairs(rd_expr *x)
{
    rd_expr *const leaf = rd_is_complex(x) ? rd_leaf_below(x) : x;

    return leaf && leaf->kind == RD_EXPR_LEAF && leaf != x ? leaf : NULL;
}

/* Marks the nodes that operand k of the caller, x, consists of, as depending on it: x itself;
 * both parts of a complex x; the values of a sparse one. A complex leaf stands for a leaf of
 * pairs, because views of its parts are merged with views above them. With `strict`, an operand
 * that is neither a leaf nor in the graph is recorded as an error. False after that. `depends`
 * marks nodes that change with an operand, `asked` those of which the caller wants the gradient.
 * `pairs` is the leaf below a complex one, and i the node's place, -1: not below y. */
static bool mark_operand(rd_grad_graph *graph, int k, rd_expr *x, bool strict)
{
    rd_expr *const pairs = rd_grad_pairs(x);
    const int64_t  i     = rd_grad_find(graph, pairs ? pairs : x);

    if (i >= 0)
        graph->depends[i] = graph->asked[i] = true;
    if (pairs || x->kind == RD_EXPR_LEAF)
        return true;
    if (x->kind == RD_EXPR_SPARSE)
        return mark_operand(graph, k, x->in[0], strict);
    if (rd_is_complex(x))
        return mark_operand(graph, k, x->in[0], strict) && mark_operand(graph, k, x->in[1], strict);
    if (i < 0 && strict)
        rd_fail(graph->ctx, RD_ERR_ARGUMENT,
                "%s: the result was not made from operand %d (%s); give the leaf below it, as "
                "constructors merge views",
                graph->call, k, rd_expr_kind_name(x->kind));
    return i >= 0 || !strict;
}

/* Marks all nodes that depend on an operand of the caller: those of a float type with an operand
 * that depends. Operands stand before readers in the list, so one pass does. x->in[k] may be
 * NULL: an operand left out. */
static void mark_readers(rd_grad_graph *graph)
{
    for (int64_t i = 0; i < graph->list.n; i++) {
        const rd_expr *x = graph->list.at[i];

        for (int k = 0; k < x->n_in && !graph->depends[i]; k++)
            graph->depends[i] =
                is_smooth(x->type) && x->in[k] && graph->depends[rd_grad_find(graph, x->in[k])];
    }
}

/* Adds up the elements that views read of each map. x->in[0] is what a view reads, and
 * rd_points() the number of elements of the view. graph->selected is of the map:
 * rd_grad_selects() asks it. */
static void count_selected(rd_grad_graph *graph)
{
    for (int64_t i = 0; i < graph->list.n; i++) {
        const rd_expr *x = graph->list.at[i];

        if (x->kind == RD_EXPR_VIEW && x->in[0]->kind == RD_EXPR_MAP)
            graph->selected[rd_grad_find(graph, x->in[0])] += (double)rd_points(x->rank, x->extent);
    }
}

/* Allocates the facts of each node in one zeroed block, which begins with graph->change
 * (tangents or cotangents); numbers beside them, the order and marks follow. False: no memory.
 * `order` has 2 n places: the order itself, and behind it the counts of order_nodes(). The parts
 * follow by size, so all are aligned. rd_grad_end() frees the block. */
static bool allocate_facts(rd_grad_graph *graph)
{
    const int64_t n = graph->list.n;

    graph->change =
        rd_alloc(graph->ctx, n * (int64_t)(sizeof *graph->change + 2 * sizeof(double) +
                                           2 * sizeof *graph->order + 2 * sizeof(bool)));
    if (!graph->change)
        return false;
    graph->by       = (double *)(graph->change + n);
    graph->selected = graph->by + n;
    graph->order    = (int64_t *)(graph->selected + n);
    graph->depends  = (bool *)(graph->order + 2 * n);
    graph->asked    = graph->depends + n;
    return true;
}

/* Lists the nodes from y on so that each follows all of its readers (a topological order, by
 * counting readers that are not yet listed). The graph alone decides this order, and so in which
 * order cotangents add up and round. Serial numbers would not do: they also depend on what else
 * the context has made. `made` counts the nodes listed; order[] holds places in graph->list. */
static void order_nodes(rd_grad_graph *graph, const rd_expr *y)
{
    const int64_t  n     = graph->list.n;
    int64_t *const waits = graph->order + n; /* of each node: readers that are not in the order */
    int64_t        made  = 0;

    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < graph->list.at[i]->n_in; k++)
            if (graph->list.at[i]->in[k])
                waits[rd_grad_find(graph, graph->list.at[i]->in[k])]++;
    graph->order[made++] = rd_grad_find(graph, y);
    for (int64_t i = 0; i < made; i++) {
        const rd_expr *x = graph->list.at[graph->order[i]];

        for (int k = 0; k < x->n_in; k++) {
            const int64_t j = x->in[k] ? rd_grad_find(graph, x->in[k]) : -1;

            if (j >= 0 && --waits[j] == 0)
                graph->order[made++] = j;
        }
    }
}

/* Lists the nodes below y in the order of serial numbers, and finds which depend on the operands x.
 * `strict`: an operand that is neither a leaf nor below y is an error. False after recording what
 * is wrong. The caller ends the graph by rd_grad_end() in either case. */
bool rd_grad_begin(rd_grad_graph *graph, const char *call, rd_expr *y, rd_exprs x, bool strict)
{
    *graph = (rd_grad_graph){ .call = call };
    if (!rd_operands(call, 1, &y) || !rd_list_ok(y->ctx, call, "operands", x.at, x.n, 1) ||
        !rd_operands(call, x.n, x.at))
        return false;
    graph->ctx = y->ctx;
    for (int32_t k = 0; k < x.n; k++)
        if (!rd_same_ctx(call, 2, (rd_expr *const[]){ y, x.at[k] }))
            return false;
    if (!is_smooth(y->type)) {
        rd_fail(y->ctx, RD_ERR_TYPE,
                "%s: the result is %s, and derivatives are of floats; rd_cast makes one", call,
                rd_dtype_name(y->type));
        return false;
    }
    if (!rd_list_nodes(graph->ctx, (rd_results){ &(rd_result){ y, NULL }, 1 }, &graph->list))
        return false;
    qsort(graph->list.at, (size_t)graph->list.n, sizeof *graph->list.at, compare_serials);
    if (!allocate_facts(graph))
        return false;
    order_nodes(graph, y);
    for (int32_t k = 0; k < x.n; k++)
        if (!operand_ok(graph, k, x.at[k]) || !mark_operand(graph, k, x.at[k], strict))
            return false;
    mark_readers(graph);
    count_selected(graph);
    return true;
}

/* Frees the graph; nothing was allocated if it has no context. `change` is the one block of all
 * facts. */
void rd_grad_end(rd_grad_graph *graph)
{
    if (!graph->ctx)
        return;
    rd_free(graph->ctx, graph->change);
    rd_free_nodes(graph->ctx, &graph->list);
}

/* True if x has no element, so no change either. */
static bool is_empty(const rd_expr *x)
{
    for (int a = 0; a < x->rank; a++)
        if (x->extent[a] == 0)
            return true;
    return false;
}

/* Prepares a step for node i: call, context, node, and in depends[k] whether operand k depends
 * on an operand of the caller, so that it needs a derivative. Nodes without elements need none.
 * operands that the node leaves out (NULL) do not depend either. `depends` belongs to the
 * caller, and must last as long as the step. */
void rd_grad_step_of(const rd_grad_graph *graph, int64_t i, rd_grad_step *s,
                     bool depends[RD_MOST_IN])
{
    rd_expr *const y = graph->list.at[i];

    *s = (rd_grad_step){ .call = graph->call, .ctx = graph->ctx, .y = y, .depends = depends };
    for (int k = 0; k < y->n_in; k++)
        depends[k] = y->in[k] && !is_empty(y) && !is_empty(y->in[k]) &&
                     graph->depends[rd_grad_find(graph, y->in[k])];
}

/* ---- Building blocks ------------------------------------------------------------------------- */
/* Returns zeros of the shape and type of x. */
rd_expr *rd_grad_zeros(rd_expr *x)
{
    rd_expr *const zero = rd_number(x->ctx, x->type, rd_word_from_int(0, x->type));

    return zero ? rd_broadcast_to(zero, x->rank, x->extent, "rd_grad") : NULL;
}

/* Returns the sum of x over a set of axes, with bit a for axis a; x itself if there is none. */
rd_expr *rd_grad_sum(rd_expr *x, uint64_t axes)
{
    rd_dims dims = RD_NONE;

    if (!x || !axes)
        return x;
    for (int a = 0; a < x->rank; a++)
        if (axes >> a & 1)
            dims.axis[dims.n++] = a;
    return rd_sum(x, dims);
}

/* Returns sums of x along an axis by label: the axis becomes n places, and element k is added to
 * place label[k]. It is the transpose of a gather. Labels of a signed type that are below 0
 * count from the end. x or label NULL, after a failure, stays NULL. The sum is a group-by: `by`
 * the labels, `groups` the number of places. */
rd_expr *rd_grad_scatter(rd_expr *x, int axis, rd_expr *label, int64_t n)
{
    static const char call[] = "rd_grad";

    if (!x || !label)
        return NULL;
    if (rd_dtype_kind(label->type) == RD_KIND_INT)
        label = map_where(call, map_2(RD_OP_lt, call, label, rd_int(x->ctx, 0)),
                          map_2(RD_OP_add, call, rd_cast_to(label, RD_I64), rd_int(x->ctx, n)),
                          rd_cast_to(label, RD_I64));
    return label ? rd_sum(x, RD_DIMS(axis), .by = RD_EXPRS(label), .groups = RD_SHAPE(n)) : NULL;
}

/* Makes an expression of function text such as "g * y", where names has a letter for each
 * operand: "gy". Operands lose their origins (first indices of axes), as tangents and cotangents
 * have none. NULL after a failure. */
rd_expr *rd_grad_text(const rd_grad_step *s, const char *text, const char *names, rd_expr *const *x)
{
    rd_expr *given[RD_MOST_IN];
    char     whole[512];
    int      n = (int)strlen(names), used = 0;

    for (int k = 0; k < n; k++) {
        given[k] = rd_with_origins(x[k], /*origin=*/NULL);
        used += snprintf(whole + used, sizeof whole - (size_t)used, "%s%c", k ? "," : "", names[k]);
    }
    snprintf(whole + used, sizeof whole - (size_t)used, ": %s", text);
    return rd_function_text(s->ctx, s->call, whole, n, given);
}
