/* root_interchange.c - moves a root loop of few iterations inside a loop that tasks can share.
 *
 * The sum over the last axis of an array (3, 10000000) has three results, hence three tasks.
 * Its reduced loop is cut into ranges, shared by whole blocks.  Each task then reads three runs
 * of memory, and the results of all three are kept at once.
 *
 *    for i: for j     ->     for ranges of j: for i: for j in the range */
#include "eval/order/order.h"

/* Bytes of a range: long enough that moving to the next run of memory costs nothing. */
static const int64_t RANGE_BYTES = RD_L2_BYTES / 4;

/* Facts about what the loops inside a root loop read along an axis. */
typedef struct facts {
    const rd_tree *tree;
    int            axis;  /* the axis to be shared */
    int64_t        bytes; /* largest stride along it of all reads, in bytes */
    bool           exits; /* an `any` or `all` may exit early */
} facts;

/* Collects the largest stride in bytes along f->axis of all that the loop body reads, and whether
 * one of its reductions may exit early. f->bytes and f->exits are these; use[u] are the values
 * that a stored one reads. */
static void collect_facts(facts *f, const rd_loop_scope *scope)
{
    for (const rd_item *item = scope->first; item; item = item->next) {
        const rd_graph        *g = f->tree->graph;
        const rd_materialised *a =
            item->loop ? NULL : &f->tree->materialised[f->tree->number[item->value]];

        if (item->loop)
            collect_facts(f, item->loop);
        for (int u = 0; a && u < a->n_use; u++) {
            int64_t step = rd_stride_of(f->tree, a->use[u].value, f->axis);

            step *= rd_dtype_size(g->value[a->use[u].value].type);
            f->bytes = step > f->bytes ? step : f->bytes;
        }
        f->exits |= a && g->value[item->value].kind == RD_VALUE_REDUCE &&
                    rd_value_may_exit(&g->value[item->value]);
    }
}

/* True if a value in the loop body reduces the axis or scans along it. */
static bool has_reduction_over(const rd_tree *tree, const rd_loop_scope *scope, int axis)
{
    for (const rd_item *item = scope->first; item; item = item->next)
        if (item->loop ? has_reduction_over(tree, item->loop, axis)
                       : rd_in(tree->graph->value[item->value].reduced, axis))
            return true;
    return false;
}

/* The length of the ranges of `inner`, a loop inside a root loop, for the interchange; 0: do not
 * interchange. Not if `inner` allows one task only, may exit early, reads nothing along its axis,
 * or is too short for enough tasks. Nor if a reduction goes along the root loop, as the order of
 * its elements would change. Too short: fewer grains than RD_ENOUGH tasks, or less than
 * RD_STRIP_BYTES of memory for each. A tile loop keeps its width. */
static int64_t range_of(const rd_tree *tree, const rd_loop_scope *root, const rd_loop_scope *inner)
{
    facts      f      = { .tree = tree, .axis = inner->axis };
    rd_sharing s      = rd_task_sharing(tree, inner, inner->axis);
    int64_t    extent = tree->graph->axis[inner->axis].extent, range;

    collect_facts(&f, inner);
    /* Moving a reduced loop inside would change the order of its elements. */
    if (s.serial || f.exits || f.bytes == 0 || has_reduction_over(tree, root, root->axis))
        return 0;
    if (rd_grains(tree, inner->axis, s) < RD_ENOUGH ||
        extent / RD_ENOUGH < RD_STRIP_BYTES / f.bytes)
        return 0;
    range = RANGE_BYTES / f.bytes / s.grain * s.grain;
    return inner->tile ? inner->step : range ? range : s.grain;
}

/* Interchanges the root loop *at with the loops inside, which become tile loops around it. Items
 * beside them get a loop over the root's axis each. False: no memory.
 *
 *     for k: { before; for j; after }
 *       ->  for k: before;  for ranges of j: for k: for j;  for k: after
 * `range` is the width of these tile loops. */
static bool interchange(const rd_tree *tree, rd_item **at, int64_t range)
{
    const int axis = (*at)->loop->axis;
    rd_item  *rest = (*at)->next, *next;

    *at = (*at)->loop->first;
    for (; *at; at = &(*at)->next) {
        rd_item       *last = *at, *outer;
        rd_loop_scope *loop = last->loop;

        while (!loop && last->next && !last->next->loop)
            last = last->next;
        next       = last->next;
        last->next = NULL;
        outer      = rd_wrap_items(tree, axis, loop && loop->tile ? loop->first : *at);
        if (outer && loop)
            outer = rd_wrap_items(tree, loop->axis, outer);
        if (!outer)
            return false;
        if (loop) {
            outer->loop->tile = true;
            outer->loop->step = range;
        }
        outer->next = next;
        *at         = outer;
    }
    *at = rest;
    return true;
}

/* Interchanges each root loop of fewer than RD_ENOUGH iterations with the only loop inside, where
 * ranges of that allow more tasks. False: no memory. Loops whose ranges must come in order
 * (ordered) stay. The interchange may replace the item by several, so the search goes on behind
 * all of them (next). */
bool rd_interchange_roots(const rd_tree *tree)
{
    for (rd_item **at = &tree->root->first, *next = *at; next;) {
        rd_loop_scope *root  = next->loop, *inner;
        int64_t        range = 0;

        next = next->next;
        if (root && !root->tile && tree->graph->axis[root->axis].extent < RD_ENOUGH &&
            (inner = rd_only_loop(root)) && inner->axis != root->axis && !inner->ordered)
            range = range_of(tree, root, inner);
        if (range && !interchange(tree, at, range))
            return false;
        while (*at != next)
            at = &(*at)->next;
    }
    return true;
}
