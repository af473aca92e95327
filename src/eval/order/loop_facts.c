/* loop_facts.c - facts about a tree that the passes of order need: strides, contents of loops, and
 * how tasks may share one.
 *
 * Fields. A value is a result if `out` >= 0, and a part of a concatenation if `into` >= 0. `group`
 * is the axis of a group-by's groups, `inner` that of a reducer's outputs or of a sorted row, -1:
 * none.
 *
 * Words. A fold is a reduction or a scan. */
#include "core/combine_tree.h"
#include "eval/order/order.h"
#include <stdlib.h>

/* The absolute coefficient (stride) of an axis in a subscript; 0: it does not occur. */
static int64_t coef_of(const rd_subscript *at, int axis)
{
    for (int t = 0; t < at->n_term; t++)
        if (at->term[t].axis == axis)
            return at->term[t].coef < 0 ? -at->term[t].coef : at->term[t].coef;
    return 0;
}

/* The absolute coefficient of an axis in an index that is computed from loop indices by sums and
 * clamps, as rolled arrays are read; 0: it is looked up in an array. `depth` bounds the
 * recursion. */
static int64_t coef_of_place(const rd_graph *g, int value, int axis, int depth)
{
    const rd_value *v    = &g->value[value];
    int64_t         coef = 0;

    if (v->kind == RD_VALUE_COORD)
        return coef_of(&v->at[0], axis);
    if (v->kind != RD_VALUE_MAP || v->type != RD_I64 || depth == 0 || v->op == RD_OP_index)
        return 0;
    for (int k = 0; k < v->n_in && !coef; k++)
        coef = coef_of_place(g, v->in[k], axis, depth - 1);
    return coef;
}

/* The stride along an axis, in elements, at which a subscript reads a leaf; an index may be
 * clamped. coef_of() is the coefficient of the axis itself, coef_of_place() that in a clamped
 * index. */
static int64_t stride_of(const rd_graph *g, const rd_subscript *at, int axis)
{
    enum { DEPTH = 8 };
    int64_t stride = coef_of(at, axis);

    for (int t = 0; t < at->n_term && !stride; t++)
        if (at->term[t].axis < 0)
            stride = llabs(at->term[t].coef) * coef_of_place(g, at->term[t].value, axis, DEPTH);
    return stride;
}

/* The stride of a stored value or a leaf along an axis, in elements. A result has the caller's
 * stride; an array's is the product of the extents of its inner dims. 0: it does not vary along
 * the axis. v->store is the address of a result, coef_of() its coefficient; rd_is_inner_dim()
 * says that dim k lies inside dim d, and `stored` is the set of axes that the storage has. */
int64_t rd_stride_of(const rd_tree *tree, int value, int axis)
{
    const rd_value *v    = &tree->graph->value[value];
    int64_t         step = 1;

    if (v->kind == RD_VALUE_READ)
        return stride_of(tree->graph, &v->at[0], axis);
    if (v->out >= 0)
        return coef_of(v->store, axis);
    if (!rd_in(v->axes, axis))
        return v->is_whole_array; /* read at other places, such as windows: counted as contiguous */
    for (int d = 0; d < v->n_dim; d++)
        for (int k = 0; k < v->n_dim && v->dim[d] == axis; k++)
            if (rd_is_inner_dim(v, k, d) && rd_in(tree->storage[value].stored, v->dim[k]))
                step *= tree->graph->axis[v->dim[k]].extent;
    return step;
}

/* Makes a loop over the axis with these items as its body; returns the item that holds the loop;
 * NULL without memory. */
rd_item *rd_wrap_items(const rd_tree *tree, int axis, rd_item *first)
{
    rd_loop_scope *loop    = rd_pool_get(tree->graph->pool, sizeof *loop);
    rd_item       *wrapper = rd_pool_get(tree->graph->pool, sizeof *wrapper);

    if (!loop || !wrapper)
        return NULL;
    loop->axis     = axis;
    loop->first    = first;
    wrapper->value = -1;
    wrapper->loop  = loop;
    return wrapper;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */
/* True if a loop is among the items of a scope. */
static bool holds_loop(const rd_loop_scope *scope)
{
    for (const rd_item *item = scope->first; item; item = item->next)
        if (item->loop)
            return true;
    return false;
}

/* Combines the grains of all reductions along the axis in a scope (loop body): their least common
 * multiple, at which tasks may begin. Scans, and folds in one block (strict order), allow one task
 * only. `outermost`: the scope is the body of the loop that tasks share. s->grain is that
 * multiple so far; steps INT64_MAX: the fold is one block. */
static void add_sharing(const rd_tree *tree, const rd_loop_scope *scope, int axis, bool outermost,
                        rd_sharing *s)
{
    for (const rd_item *item = scope->first; item; item = item->next) {
        const rd_value *v = item->loop ? NULL : &tree->graph->value[item->value];

        if (item->loop)
            add_sharing(tree, item->loop, axis, /*outermost=*/false, s);
        else if (!rd_in(v->reduced, axis))
            continue;
        else if (v->kind == RD_VALUE_SCAN || v->combine->steps == INT64_MAX)
            s->serial = true;
        else {
            int64_t grain = rd_fold_grain(tree->graph, v, axis, outermost && holds_loop(scope));

            s->grain = s->grain / rd_common_divisor(s->grain, grain) * grain;
        }
    }
}

/* How tasks may share a loop over the axis: the grain, at whose multiples they may begin, and
 * whether only one task may run it. */
rd_sharing rd_task_sharing(const rd_tree *tree, const rd_loop_scope *scope, int axis)
{
    rd_sharing s = { .grain = 1 };

    add_sharing(tree, scope, axis, /*outermost=*/true, &s);
    return s;
}

/* The greatest rd_pattern (how labels are ordered) of group-by reductions in the scope, a loop
 * body; 0: nothing is known, or there are none. v->group >= 0: it has groups. */
int rd_sparse_fold_kind(const rd_tree *tree, const rd_loop_scope *scope)
{
    int found = 0;

    for (const rd_item *item = scope->first; item; item = item->next) {
        const rd_value *v    = item->loop ? NULL : &tree->graph->value[item->value];
        const int       here = item->loop                    ? rd_sparse_fold_kind(tree, item->loop)
                               : v->group >= 0 && v->combine ? v->expr->as.fold->of_pattern
                                                             : 0;

        found = here > found ? here : found;
    }
    return found;
}
