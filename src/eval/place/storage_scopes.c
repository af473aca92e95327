/* storage_scopes.c - decides the storage scope of each materialised value (compute_at and
 * store_at of Halide): the innermost scope around where it is computed and read.  Its stored
 * axes are those without a single index there.  None is a register; some are a scratch row or
 * tile; at the root all of them are an array between stages.
 *
 * An axis is open in a scope if a loop around it has the axis at one index, and ranged if a tile
 * loop limits it to a range.
 *
 * Fields. A value is a result if `out` >= 0, and a part of a concatenation if `into` >= 0. */
#include "eval/ir.h"

/* The only loop among a body's items; NULL: there are several or none. */
rd_loop_scope *rd_only_loop(const rd_loop_scope *scope)
{
    rd_loop_scope *only = NULL;

    for (const rd_item *item = scope->first; item; item = item->next)
        if (item->loop) {
            if (only)
                return NULL;
            only = item->loop;
        }
    return only;
}

static void find_places(rd_tree *tree, rd_loop_scope *scope);

/* Fills in the parent of a loop, and the axes that have one index (open) or a tile's range
 * (ranged) in its body. Goes on with the loops inside and with its epilogue, a loop that follows
 * it. */
static void find_places_in_loop(rd_tree *tree, rd_loop_scope *loop, rd_loop_scope *parent)
{
    loop->parent            = parent;
    loop->single_index_axes = parent->single_index_axes;
    loop->tile_ranged_axes  = parent->tile_ranged_axes;
    if (loop->tile)
        loop->tile_ranged_axes |= rd_bit(loop->axis);
    else
        loop->single_index_axes |= rd_bit(loop->axis);
    find_places(tree, loop);
    if (loop->epilogue)
        find_places_in_loop(tree, loop->epilogue, parent);
}

/* Notes for each value in a scope (loop body), and in the loops inside, which body computes it. */
static void find_places(rd_tree *tree, rd_loop_scope *scope)
{
    for (rd_item *item = scope->first; item; item = item->next)
        if (item->loop)
            find_places_in_loop(tree, item->loop, scope);
        else
            tree->storage[item->value].where = scope;
}

/* The number of loops around the body of a scope, its own included; 0 of the root. */
static int depth(const rd_loop_scope *scope)
{
    int n = 0;

    for (; scope->parent; scope = scope->parent)
        n++;
    return n;
}

/* The innermost loop body around two loop bodies, found by climbing from the deeper one. */
static rd_loop_scope *common_scope(rd_loop_scope *a, rd_loop_scope *b)
{
    int p = depth(a), q = depth(b);

    for (; p > q; p--)
        a = a->parent;
    for (; q > p; q--)
        b = b->parent;
    while (a != b) {
        a = a->parent;
        b = b->parent;
    }
    return a;
}

/* The outermost loop that a reduction reduces, behind which its results are complete; NULL: none.
 * `where`: the loop body that computes it. */
static rd_loop_scope *finish_loop_of(const rd_value *v, rd_loop_scope *where)
{
    rd_loop_scope *close = NULL;

    for (rd_loop_scope *s = where; v->kind == RD_VALUE_REDUCE && s->parent; s = s->parent)
        if (rd_in(v->reduced, s->axis))
            close = s;
    return close;
}

/* The loop body in which exactly these axes have one index, among `scope` (may be NULL) and single
 * loops nested inside it; NULL: none. */
rd_loop_scope *rd_scope_of_cell(rd_loop_scope *scope, rd_set axes)
{
    while (scope && scope->single_index_axes != axes)
        scope = rd_only_loop(scope);
    return scope;
}

/* The storage class of value v: a result (out) lies in the caller's memory. What is read outside
 * all loops is an array between stages; inside a loop it is scratch memory (temporary, of a task)
 * if it has stored axes, else a register. */
static rd_storage_class class_of(const rd_value *v, const rd_storage *h)
{
    if (v->out >= 0)
        return RD_KEEP_OUTPUT;
    if (!h->scope->parent || v->kind == RD_VALUE_JOIN)
        return RD_KEEP_ARRAY;
    return h->stored || v->row ? RD_KEEP_SCRATCH : RD_KEEP_REGISTER;
}

/* Decides for all values where they are computed, finished and stored (compute_at and store_at).
 * The storage scope is the innermost loop body around the computation and all readers; axes with
 * one index there need no storage. False: no memory. A reduction is complete behind its
 * outermost reduced loop (finish_loop), or in the epilogue of that loop, where maps of its
 * results follow. Results and parts of concatenations are stored outside all loops. */
bool rd_assign_storage(rd_tree *tree)
{
    const rd_graph *g = tree->graph;

    if (!tree->storage &&
        !(tree->storage = rd_pool_get(g->pool, (size_t)(g->n_value + 1) * sizeof *tree->storage)))
        return false;
    for (int i = 0; i < g->n_value; i++)
        tree->storage[i] = (rd_storage){ .keep = RD_KEEP_INLINE };
    find_places(tree, tree->root);
    for (int a = 0; a < tree->n_materialised; a++) {
        int         v = tree->materialised[a].value;
        rd_storage *h = &tree->storage[v];

        h->finish_loop = finish_loop_of(&g->value[v], h->where);
        h->epilogue_loop =
            h->finish_loop ? rd_scope_of_cell(h->finish_loop->epilogue, g->value[v].axes) : NULL;
        h->scope = h->epilogue_loop ? h->epilogue_loop
                   : h->finish_loop ? h->finish_loop->parent
                                    : h->where;
    }
    for (int a = 0; a < tree->n_materialised; a++)
        for (int u = 0; u < tree->materialised[a].n_use; u++) {
            rd_storage *h = &tree->storage[tree->materialised[a].use[u].value];

            if (h->scope)
                h->scope = common_scope(h->scope, tree->storage[tree->materialised[a].value].where);
        }
    for (int a = 0; a < tree->n_materialised; a++) {
        const rd_value *v = &g->value[tree->materialised[a].value];
        rd_storage     *h = &tree->storage[tree->materialised[a].value];

        if (v->out >= 0 || v->into >= 0)
            h->scope = tree->root;
        h->stored = v->axes & ~h->scope->single_index_axes;
        h->keep   = class_of(v, h);
    }
    return true;
}
