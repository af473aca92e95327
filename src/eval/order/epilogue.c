/* epilogue.c - fuses maps of row reductions into the stage of the reductions.
 *
 * Compiled loops go row by row and know a row's result at its end (nest/rows.c).  A map of that
 * result, such as a scale or a cast, is computed there, and nothing is stored between.  The
 * map's loop becomes the epilogue of the reduction's loop.
 *
 *    for p: t0 <- sum(..)  by rows;   for r: y0[r] = 2 * t0[r]     ->     one stage
 *
 * Fields. An operand in[k] of -1 is not there. `group` is the axis of a group-by's groups, `inner`
 * that of a reducer's outputs or of a sorted row, -1: none.
 *
 * Words. A value is materialised if it is stored, and inlined if each reader computes it. */
#include "eval/order/order.h"

/* A pair of stages in question. */
typedef struct finding {
    const rd_tree       *tree;
    const rd_loop_scope *folds;  /* the root's loop of reductions */
    rd_loop_scope       *maps;   /* the loop of maps that follows it */
    bool                *needed; /* by value: work space */
} finding;

/* The value of that number in the graph. */
static const rd_value *value_of(const finding *f, int v)
{
    return &f->tree->graph->value[v];
}

/* True if a scope (loop body) is that of the loop, or inside it. */
static bool is_within(const rd_loop_scope *scope, const rd_loop_scope *loop)
{
    while (scope && scope != loop)
        scope = scope->parent;
    return scope;
}

/* ---- The reductions -------------------------------------------------------------------------- */
/* True for a reduction by rows of a sparse pattern in one loop over all stored elements
 * (f->folds), which goes row by row with one accumulator. Where each row begins must be known, and
 * the rows must be the axis of the loop of maps (f->maps). So it needs a known array of row
 * begins (distance not 0), no several outputs (inner), one lane, f->folds' axis as its outermost
 * one, the maps' axis as its groups, and one block as long as the loop. */
static bool is_suitable_fold(const finding *f, const rd_value *v)
{
    const rd_graph *g = f->tree->graph;

    return rd_row_begins_distance(g, v) && v->inner < 0 && v->combine->lanes == 1 &&
           v->combine->order[0] == f->folds->axis && v->group == f->maps->axis &&
           v->combine->steps >= g->axis[f->folds->axis].extent;
}

/* True if there are reductions in the first loop (f->folds), and all of them suit. is_within():
 * the value stands in that loop; `combine`: it is a reduction or scan. */
static bool are_folds_suitable(const finding *f)
{
    bool any = false;

    for (int a = 0; a < f->tree->n_materialised; a++) {
        const int v = f->tree->materialised[a].value;

        if (!is_within(f->tree->storage[v].where, f->folds) || !value_of(f, v)->combine)
            continue;
        if (!is_suitable_fold(f, value_of(f, v)))
            return false;
        any = true;
    }
    return any;
}

/* ---- The maps -------------------------------------------------------------------------------- */
/* True if a map is cheap for each row: no functions such as exp, which need vectors, and no
 * gathers. What is inlined into it counts, too. `materialised`: the map's value number; a
 * materialised value is stored. f->needed marks by value what the map needs; RD_KEEP_INLINE: it
 * is computed where it is read. */
static bool is_cheap(const finding *f, int materialised)
{
    const rd_graph *g = f->tree->graph;

    for (int i = 0; i <= materialised; i++)
        f->needed[i] = i == materialised;
    for (int i = materialised; i >= 0; i--) {
        const rd_value *v = &g->value[i];

        if (!f->needed[i] || (i != materialised && f->tree->storage[i].keep != RD_KEEP_INLINE))
            continue;
        if (rd_is_function(v) || v->kind == RD_VALUE_CALL || rd_is_gathered(v))
            return false;
        for (int k = 0; k < v->n_in; k++)
            if (v->in[k] >= 0)
                f->needed[v->in[k]] = true;
    }
    return true;
}

/* True if `use`, one read by a map, is of no reduction in the first loop, or of one at the map's
 * own row, when its result is known. `reader`: the loop body with the map. At its own row: the
 * use is at the map's own index along all axes of the reduction (same), and the map lies inside
 * the loop body where exactly these axes have one index (row; NULL: there is none). */
static bool is_suitable_use(const finding *f, const rd_loop_scope *reader, const rd_use *use)
{
    const rd_value      *v   = value_of(f, use->value);
    const rd_loop_scope *row = rd_scope_of_cell(f->maps, v->axes);

    if (!is_within(f->tree->storage[use->value].where, f->folds))
        return true;
    return v->combine && !(v->axes & ~use->same) && row && is_within(reader, row);
}

/* True if all values in the second loop (f->maps) are elementwise operations, cheap for each row,
 * that read the first loop's reductions only at their own row. `where` is the loop body in which
 * a stored value stands, is_within() says that it is part of the second loop; use[u] are the
 * values that it reads. */
static bool are_maps_suitable(const finding *f)
{
    for (int a = 0; a < f->tree->n_materialised; a++) {
        const rd_materialised *materialised = &f->tree->materialised[a];
        const rd_loop_scope   *where        = f->tree->storage[materialised->value].where;

        if (!is_within(where, f->maps))
            continue;
        if (value_of(f, materialised->value)->kind != RD_VALUE_MAP ||
            !is_cheap(f, materialised->value))
            return false;
        for (int u = 0; u < materialised->n_use; u++)
            if (!is_suitable_use(f, where, &materialised->use[u]))
                return false;
    }
    return true;
}

/* True for a loop with at most one loop nested in each, none of them a tile loop or backwards. */
static bool is_plain(const rd_loop_scope *scope)
{
    for (; scope; scope = rd_only_loop(scope)) {
        int loops = 0;

        for (const rd_item *item = scope->first; item; item = item->next)
            loops += item->loop != NULL;
        if (loops > 1 || scope->tile || scope->backwards)
            return false;
    }
    return true;
}

/* Fuses each loop of reductions by sparse rows with the loop of maps that follows, if both suit:
 * the maps' loop becomes its epilogue, so that nothing is stored between. Assigns storage again.
 * Not on a device. False: no memory. `any`: something was fused. */
bool rd_fuse_epilogues(rd_tree *tree)
{
    bool    any = false;
    finding f   = { .tree   = tree,
                    .needed = rd_pool_get(tree->graph->pool,
                                          (size_t)(tree->graph->n_value + 1) * sizeof *f.needed) };

    if (!f.needed)
        return false;
    for (rd_item *item = tree->root->first; item && item->next && !tree->graph->device;
         item          = item->next) {
        f.folds = item->loop;
        f.maps  = item->next->loop;
        if (!f.folds || !f.maps || !is_plain(f.maps) || !are_folds_suitable(&f) ||
            !are_maps_suitable(&f))
            continue;
        item->loop->epilogue = item->next->loop;
        item->next           = item->next->next;
        any                  = true;
    }
    return !any || rd_assign_storage(tree);
}
