/* panels.c - strip-mining and interchange: moves kept loops inside loops of larger strides.
 *
 * A kept loop with contiguous elements becomes a tile loop (a panel), and the axis moves inside.
 * Memory is then read in order, and the partial results of a panel stay in cache.  If a panel
 * would hold the whole axis there is no tile loop.  At the root, tasks then share the loop over
 * rows by whole blocks, and each reads one run of memory.
 *
 *    for j: for i: s[j] += x[i,j]   ->   for panels of j: for i: for j in it: s[j] += x[i,j]
 *
 * A kept loop runs over an axis that is not reduced.  A stride is in elements.  A phase is one
 * of several inner loops that pass values to the next through scratch.
 *
 * Fields. A READ is of a leaf's `slot`, or of another value, its `target`, -1: it is not. A value
 * is a result if `out` >= 0, and a part of a concatenation if `into` >= 0. */
#include "eval/order/order.h"
#include "core/machine_memory.h"
#include <math.h>

/* Bytes across a panel of rows that stream from memory.  That many bytes of partial results are
 * used again with every row.  Wider panels read longer runs, until they and a few rows exceed an
 * L2 cache.  Panels of 8 KiB get half the bandwidth of DRAM. */
static const int64_t PANEL_BYTES = RD_L2_BYTES / 4;
/* Bytes across a panel of values that are used again and again: an L1 cache. */
static const int64_t HOT_BYTES = RD_L1_BYTES;
/* Bytes of accumulators with lanes in a panel: an L2 cache. */
static const int64_t LANES_BYTES = RD_L2_BYTES;
/* Bytes that a panel keeps between phases: half an L2 cache, because rows of values are there,
 * too. */
static const int64_t HELD_BYTES = RD_L2_BYTES / 2;
/* Bytes of nodes of combine trees in a panel of which no row streams from memory: a quarter of an
 * L2 cache.  A task holds them, and the tile machine a few times as much. */
static const int64_t NODES_BYTES = RD_L2_BYTES / 4;
/* Most bytes of partial results for an array that the page cache does not hold. */
static const int64_t MOST_BYTES = 64 << 20;
/* Least extent of a panel's axis.  Fewer elements than a cache line holds are as good one result
 * at a time, with the partial result in registers.  Contiguous rows are an exception: all
 * together they are one run of memory. */
static const int64_t FEW = 16;
/* Elements within this stride share cache lines. */
static const int64_t NEAR = 8;
/* Number of memory streams that prefetchers follow at once. */
static const int64_t STREAMS = 16;
static const double  LINE    = 64; /* bytes */

/* A loop over `axis` that may become a panel, and what is known of the loops inside. */
typedef struct panel {
    const rd_tree   *tree;
    const rd_choice *choice;
    int              axis;
    int64_t          extent;    /* of the axis */
    int64_t          fewest;    /* least extent that is worth a panel */
    bool             forbidden; /* something inside reduces the axis */
    int              bytes;     /* bytes of the widest value */
    int64_t          step;      /* the largest stride of all reads, in elements */
    double           held;      /* bytes kept in cache between phases, per index */
    int64_t          lanes;     /* bytes of accumulators with several lanes, per index */
    double           nodes;     /* bytes of nodes of accumulators with one lane, per index */
    rd_set           open;      /* axes with one index around the panel */
} panel;

/* The entry of a stored value, with the values that it reads. */
static const rd_materialised *materialised_of(const rd_tree *tree, int value)
{
    return &tree->materialised[tree->number[value]];
}

/* ---- Where the axis should go ---------------------------------------------------------------- */
/* Examines the strides of all that a value reads along the axis of panel p (a tile loop to be).
 * *any_small: one of them is from 1 to NEAR elements, so that rows along the axis are close in
 * memory; *none_large: none is larger than NEAR. */
static void look_at_reads(const panel *p, const rd_materialised *a, bool *any_small,
                          bool *none_large)
{
    *any_small  = false;
    *none_large = true;
    for (int u = 0; u < a->n_use; u++) {
        int64_t step = rd_stride_of(p->tree, a->use[u].value, p->axis);

        *any_small |= step >= 1 && step <= NEAR;
        *none_large &= step <= NEAR;
    }
}

/* True if the rows that a value reads along the axis of panel p (a tile loop to be), one for each
 * index of `outer`, follow one another without gaps: the stride along `outer` is the row's
 * length. rd_stride_of() is the stride of a use along an axis; 0 along the panel's axis does not
 * matter. */
static bool rows_adjoin(const panel *p, const rd_materialised *a, int outer)
{
    bool any = false;

    for (int u = 0; u < a->n_use; u++) {
        int64_t step = rd_stride_of(p->tree, a->use[u].value, p->axis);

        if (step > 1 || (step == 1 && rd_stride_of(p->tree, a->use[u].value, outer) != p->extent))
            return false;
        any |= step == 1;
    }
    return any;
}

/* True if the value fits in a cache, so that reading it in any order costs little. */
static bool is_cached(const panel *p, int value)
{
    const rd_value *v = &p->tree->graph->value[value];

    return rd_points_of(p->tree->graph, v->axes) <= RD_CACHED_BYTES / rd_dtype_size(v->type);
}

/* True if a reduction with SIMD lanes along a reduced axis wants the panel's axis, which it keeps,
 * inside the loop over `outer`. That is so if memory has the kept axis inside the lanes (image
 * channels), or each run of memory is short and its neighbours continue it. Not if it may exit
 * early, which it does earlier one at a time. Strides (step) are along the panel's axis, in
 * elements. It is not wanted inside
 * - if some read has no smaller stride along it than along `outer`
 * - if runs of memory with gaps are long anyway (RD_RUN_BYTES), `outer` has no more rounds than
 *   prefetchers follow streams, or the array is cached
 * - if neighbouring rows of a contiguous axis do not adjoin along the lane axis
 * - if nothing read varies along it */
static bool is_wanted_by_lanes(const panel *p, const rd_value *v, const rd_materialised *a,
                               int outer)
{
    bool any = false;

    if (!rd_in(v->axes, p->axis) || rd_value_may_exit(v))
        return false;
    for (int u = 0; u < a->n_use; u++) {
        const int     read = a->use[u].value;
        const int64_t step = rd_stride_of(p->tree, read, p->axis);

        if (step >= 1 && step >= rd_stride_of(p->tree, read, outer))
            return false;
        if (step > 1 && (step * rd_dtype_size(p->tree->graph->value[read].type) >= RD_RUN_BYTES ||
                         p->tree->graph->axis[outer].extent <= STREAMS || is_cached(p, read)))
            return false;
        if (step == 1 && rd_stride_of(p->tree, read, v->combine->lane_axis) != p->extent)
            return false;
        any |= step >= 1;
    }
    return any;
}

/* True if the value, computed in `scope`, wants the axis of panel p (a tile loop to be) inside the
 * loop over `outer`, to read memory in order. It is a reduction whose SIMD lanes lie along that
 * axis and are contiguous, or a stored map that would be written by columns. Not wanted: by a
 * value that is in the loop over the axis already, or if the axis is short (below p->fewest),
 * unless its rows adjoin. A reduction must have all its reduced axes in loops around (open). */
static bool is_wanted_by(const panel *p, int value, const rd_loop_scope *scope, int outer)
{
    const rd_value        *v = &p->tree->graph->value[value];
    const rd_materialised *a = materialised_of(p->tree, value);
    bool                   any_small, none_large; /* of the strides of its reads */

    if (scope->axis == p->axis) /* innermost already */
        return false;
    if (v->combine && v->combine->lanes > 1)
        return is_wanted_by_lanes(p, v, a, outer);
    if (p->extent < p->fewest && !rows_adjoin(p, a, scope->axis))
        return false;
    look_at_reads(p, a, &any_small, &none_large);
    if (v->combine)
        return v->combine->lane_axis == p->axis && (v->reduced & ~scope->single_index_axes) == 0 &&
               any_small;
    return rd_stride_of(p->tree, value, p->axis) == 1 && none_large &&
           (v->out >= 0 || p->tree->storage[value].keep == RD_KEEP_ARRAY);
}

/* True if any value in the scope (a loop body) or the loops inside wants the axis of panel p (a
 * tile loop to be) inside the loop over `outer`, to read memory in order. */
static bool is_wanted_by_any(const panel *p, const rd_loop_scope *scope, int outer)
{
    for (const rd_item *item = scope->first; item; item = item->next)
        if (item->loop ? is_wanted_by_any(p, item->loop, outer)
                       : is_wanted_by(p, item->value, scope, outer))
            return true;
    return false;
}

/* True if the item is a loop, and some value in it wants the axis of panel p (a tile loop to be)
 * inside that loop. */
static bool is_wanted_inside(const panel *p, const rd_item *item)
{
    return item->loop && is_wanted_by_any(p, item->loop, item->loop->axis);
}

/* True if some loop in the body of `loop` should have the axis of panel p (a tile loop to be)
 * inside it. */
static bool is_wanted(const panel *p, const rd_loop_scope *loop)
{
    for (const rd_item *item = loop->first; item; item = item->next)
        if (is_wanted_inside(p, item))
            return true;
    return false;
}

/* Moves the axis of panel p (a tile loop to be) inward: goes into loops that want it inside, and
 * puts all other items, those that follow one another together, into a loop over it. False: no
 * memory. is_wanted_inside(): the item is a loop that has such a body. The others, from *at to
 * `last`, go into `wrapper`. */
static bool move_axis_inside(const panel *p, rd_loop_scope *scope)
{
    for (rd_item **at = &scope->first; *at; at = &(*at)->next) {
        rd_item *wrapper, *last = *at, *rest;

        if (is_wanted_inside(p, *at)) {
            if (!move_axis_inside(p, (*at)->loop))
                return false;
            continue;
        }
        while (last->next && !is_wanted_inside(p, last->next))
            last = last->next;
        rest       = last->next;
        last->next = NULL;
        wrapper    = rd_wrap_items(p->tree, p->axis, *at);
        if (!wrapper)
            return false;
        wrapper->next = rest;
        *at           = wrapper;
    }
    return true;
}

/* ---- Width ----------------------------------------------------------------------------------- */
/* Bytes of accumulators with several lanes per index of the axis, which should stay in cache: four
 * nodes of the combine tree of 8 bytes a lane. These are the current block, and the nodes that it
 * merges with three times out of four. With one lane they are accessed in order and need no
 * room. */
static int64_t lane_bytes(const rd_value *v, int axis)
{
    return v->combine && v->combine->lanes > 1 && rd_in(v->axes, axis)
               ? (int64_t)4 * v->combine->lanes * 8
               : 0;
}

/* The number of indices of an axis that a scope (loop body) sees: the width of a tile loop around
 * it, or the extent. */
static int64_t range_of(const rd_graph *g, const rd_loop_scope *scope, int axis)
{
    for (; scope; scope = scope->parent)
        if (scope->tile && scope->axis == axis)
            return scope->step;
    return g->axis[axis].extent;
}

/* The number of rows along the axis of panel p (a tile loop to be) that a value's scratch memory
 * holds. range_of() is the number of indices that a scope sees. */
static double rows_held(const panel *p, int value)
{
    const rd_storage *own  = &p->tree->storage[value];
    double            rows = 1;

    for (int a = 0; a < p->tree->graph->n_axis; a++)
        if (a != p->axis && rd_in(own->stored, a))
            rows *= (double)range_of(p->tree->graph, own->scope, a);
    return rows;
}

/* Bytes, per index of the panel's axis, of the combine tree of a sum with one lane: a double for
 * each level, times the results along other axes that it keeps inside the panel. Extremes and
 * single blocks have no nodes. combine->steps is the length of a block, of which there are
 * points / steps, so log2 of that levels; p->open are the axes with one index around the panel.
 * 0: it keeps none. */
static double node_bytes(const panel *p, const rd_value *v)
{
    const rd_graph *g      = p->tree->graph;
    const int64_t   points = rd_points_of(g, v->reduced);
    double          rows = 2, cells = 1; /* levels; results at a time */

    if (!v->combine || v->combine->lanes > 1 || !rd_in(v->axes, p->axis) ||
        points <= v->combine->steps || !rd_reducer_adds((rd_reducer_id)v->reducer))
        return 0;
    for (int64_t k = points / v->combine->steps; k > 0; k /= 2)
        rows++;
    for (int a = 0; a < g->n_axis; a++)
        if (a != p->axis && rd_in(v->axes, a) && !rd_in(v->reduced | p->open, a))
            cells *= (double)g->axis[a].extent;
    return rows * cells * 8;
}

/* Collects what the loops inside a panel need per index of its axis: bytes of accumulators
 * (lanes), of combine tree nodes, and of scratch memory. Also the largest element and stride.
 * p->forbidden: something reduces the axis, which must then stay where it is. Scratch counts
 * twice, for the row and as much of its operands. */
static void collect_facts(panel *p, const rd_loop_scope *scope)
{
    for (const rd_item *item = scope->first; item; item = item->next) {
        const rd_value        *v;
        const rd_materialised *a;

        if (item->loop) {
            collect_facts(p, item->loop);
            continue;
        }
        v = &p->tree->graph->value[item->value];
        a = materialised_of(p->tree, item->value);
        p->forbidden |= rd_in(v->reduced, p->axis);
        if (rd_dtype_size(v->type) > p->bytes)
            p->bytes = rd_dtype_size(v->type);
        for (int u = 0; u < a->n_use; u++)
            if (rd_stride_of(p->tree, a->use[u].value, p->axis) > p->step)
                p->step = rd_stride_of(p->tree, a->use[u].value, p->axis);
        p->lanes += lane_bytes(v, p->axis);
        p->nodes += node_bytes(p, v);
        /* The scratch row itself, and as much of its operands. */
        if (p->tree->storage[item->value].keep == RD_KEEP_SCRATCH)
            p->held += 2.0 * rd_dtype_size(v->type) * rows_held(p, item->value);
    }
}

/* False if something is read by columns: with a stride along the axis of panel p (a tile loop to
 * be) not below that along `outer`. *row_each: each iteration of `outer` reads another row of an
 * array along that axis. along and across are strides of a use along the panel's axis and along
 * `outer`. */
static bool reads_rows(const panel *p, const rd_loop_scope *scope, int outer, bool *row_each)
{
    for (const rd_item *item = scope->first; item; item = item->next) {
        const rd_materialised *a = item->loop ? NULL : materialised_of(p->tree, item->value);

        if (item->loop && !reads_rows(p, item->loop, outer, row_each))
            return false;
        for (int u = 0; a && u < a->n_use; u++) {
            int64_t along  = rd_stride_of(p->tree, a->use[u].value, p->axis);
            int64_t across = rd_stride_of(p->tree, a->use[u].value, outer);

            if (along && across && along >= across)
                return false;
            *row_each |= along && across;
        }
    }
    return true;
}

/* True if a loop over rows reads memory row by row, each row along the axis of panel p (a tile
 * loop to be); `loop` may be NULL. */
static bool is_streaming(const panel *p, const rd_loop_scope *loop)
{
    bool row_each = false;

    return loop && reads_rows(p, loop, loop->axis, &row_each) && row_each;
}

/* Bytes times 2^choice->panel, the factor that a measurement chose. */
static int64_t scaled(const panel *p, int64_t bytes)
{
    return p->choice->panel >= 0 ? bytes << p->choice->panel : bytes >> -p->choice->panel;
}

/* True if a loop is among the items of a scope. */
static bool has_loops(const rd_loop_scope *scope)
{
    bool found = false;

    for (const rd_item *item = scope->first; item; item = item->next)
        found |= item->loop != NULL;
    return found;
}

/* True for a reduction by rows of a sparse pattern with few columns: tasks share the rows, and
 * each takes all columns together, without a panel (tile loop) over columns. */
static bool folds_rows(const panel *p, const rd_loop_scope *loop)
{
    enum { MANY = 1024 };

    return p->extent <= MANY && rd_sparse_fold_kind(p->tree, loop) == RD_PATTERN_ROWS;
}

/* True if an array that is read exceeds the page cache. Its rows would be read from disk again for
 * each panel, so one pass for all columns is better. Leaves in this processor's memory count;
 * slot s has the elements lo to hi. */
static bool is_too_large(const panel *p, const rd_loop_scope *scope)
{
    const rd_graph *g     = p->tree->graph;
    bool            found = false;

    for (const rd_item *item = scope->first; item && !found; item = item->next) {
        const rd_materialised *a = item->loop ? NULL : materialised_of(p->tree, item->value);

        found = item->loop && is_too_large(p, item->loop);
        for (int u = 0; a && u < a->n_use; u++) {
            const rd_value *v = &g->value[a->use[u].value];
            const rd_slot  *s = v->kind == RD_VALUE_READ && v->slot >= 0 ? &g->slot[v->slot] : NULL;

            found |= s && s->kind == RD_SLOT_LEAF && !s->device &&
                     rd_is_half_of_memory((double)(s->hi - s->lo) * rd_dtype_size(s->type));
        }
    }
    return found;
}

/* The width of a panel in indices: as wide as fits the cache that its memory needs, and no wider
 * than lets accumulators and values kept between inner loops stay in cache. The whole extent means
 * no tile loop. If a tile loop of the axis is around, that width counts as the extent. The
 * steps:
 * - PANEL_BYTES across it if memory is read row by row, else HOT_BYTES;
 * - the whole extent if rows are folded by one task each (folds_rows());
 * - p->lanes, p->held and p->nodes are bytes for each index that must fit into LANES_BYTES,
 *   HELD_BYTES and NODES_BYTES, in multiples of RD_PANEL;
 * - p->fewest is the least width worth a panel.
 * scaled() multiplies by the factor that a measurement chose. */
static int64_t panel_step(const panel *p, const rd_loop_scope *loop)
{
    const rd_loop_scope *rows  = rd_only_loop(loop);
    const int64_t        lanes = scaled(p, LANES_BYTES);
    int64_t step = scaled(p, is_streaming(p, rows) ? PANEL_BYTES : HOT_BYTES) / p->bytes;

    if (folds_rows(p, loop))
        return p->extent;
    if (is_too_large(p, loop)) /* one pass, with up to MOST_BYTES of results */
        return MOST_BYTES / p->bytes < p->extent ? MOST_BYTES / p->bytes : p->extent;
    if (rows && rd_runs_across(p->tree, rows, p->axis)) { /* transposed by squares */
        const int64_t side = has_loops(rows) ? RD_TRANSPOSE_PANEL : RD_TRANSPOSE_FOLD_PANEL;
        step               = step < side ? step : side;
    }
    if (p->lanes && lanes / p->lanes < step) /* accumulators would leave the cache */
        step = lanes / p->lanes < p->fewest ? p->fewest : lanes / p->lanes;
    if (p->held * (double)step > HELD_BYTES) { /* so would values kept between phases */
        step = (int64_t)(HELD_BYTES / p->held) / RD_PANEL * RD_PANEL;
        step = step > RD_PANEL ? step : RD_PANEL;
    }
    if (!is_streaming(p, rows) && p->nodes * (double)step > NODES_BYTES) {
        const int64_t most = (int64_t)(NODES_BYTES / p->nodes) / RD_PANEL * RD_PANEL;
        step               = step < most ? step : most > 2 * RD_PANEL ? most : 2 * RD_PANEL;
    }
    return step < range_of(p->tree->graph, loop->parent, p->axis) ? step : p->extent;
}

/* ---- Panels ---------------------------------------------------------------------------------- */
/* True if the loop over rows may become the root loop, so that tasks share rows and not columns.
 * That needs one pass over memory row by row, and enough rows: such tasks hold all results and
 * merge them at the end. Tasks that share columns need long strips of each row. If one task only
 * may run the loop over rows (serial), results of a cache line at most allow it. `strips` is the
 * number of long strips in a row; so many squared grains of rows are enough. */
static bool may_share_rows(const panel *p, const rd_loop_scope *loop)
{
    const rd_loop_scope *rows  = rd_only_loop(loop);
    const double         bytes = (double)p->extent * (double)p->step * p->bytes,
                 strips        = floor(bytes / RD_STRIP_BYTES);
    rd_sharing s;

    if (folds_rows(p, loop))
        return true;
    if (!is_streaming(p, rows) || !is_wanted_by_any(p, rows, rows->axis))
        return false;
    s = rd_task_sharing(p->tree, rows, rows->axis);
    if (s.serial)
        return bytes <= LINE;
    /* wider results want more rows */
    return is_too_large(p, loop) || (double)rd_grains(p->tree, rows->axis, s) >= strips * strips;
}

/* Replaces a loop in a list of items by the items of its body, as their loops have its axis inside
 * now. */
static void replace_by_items(rd_item **at)
{
    rd_item *last = (*at)->loop->first, *rest = (*at)->next;

    *at = last;
    while (last->next)
        last = last->next;
    last->next = rest;
}

static bool make_panels(const rd_tree *tree, rd_loop_scope *scope, const rd_choice *choice);

/* Makes a panel of the loop *at if something inside wants its axis inside: the loop becomes one
 * over tiles, and a loop over the axis goes inside. A panel as wide as the axis needs no tile
 * loop. Else goes on with the loops inside. root: it is a root loop. False: no memory. A greedy
 * traversal makes panels of axes of 2 indices or more, others of FEW. */
static bool make_panel(const rd_tree *tree, rd_item **at, bool root, const rd_choice *choice)
{
    rd_loop_scope *loop = (*at)->loop;
    panel p = { .tree = tree, .choice = choice, .axis = loop->axis, .bytes = 1, .step = 1 };
    bool  whole;

    if (loop->tile) /* sort_ranges.c and transpose_loops.c chose its width */
        return make_panels(tree, loop, choice);
    p.extent = tree->graph->axis[loop->axis].extent;
    p.fewest = choice->traversal == RD_TRAVERSE_GREEDY ? 2 : FEW;
    p.open   = loop->single_index_axes & ~(UINT64_C(1) << loop->axis);
    collect_facts(&p, loop);
    if (p.forbidden || p.extent < 2 || !is_wanted(&p, loop))
        return make_panels(tree, loop, choice);
    loop->step = panel_step(&p, loop);
    whole      = loop->step == p.extent && (!root || may_share_rows(&p, loop));
    if (!move_axis_inside(&p, loop))
        return false;
    loop->tile = !whole;
    if (whole)
        replace_by_items(at);
    return true;
}

/* Makes panels (tile loops over an axis that moves inside) of the loops in a scope, where values
 * want them. False: no memory. An item may be replaced by several, so the loop goes on to the
 * item that followed before (next). */
static bool make_panels(const rd_tree *tree, rd_loop_scope *scope, const rd_choice *choice)
{
    for (rd_item **at = &scope->first; *at;) {
        const rd_item *next = (*at)->next;

        if ((*at)->loop && !make_panel(tree, at, scope == tree->root, choice))
            return false;
        while (*at != next)
            at = &(*at)->next;
    }
    return true;
}

/* Makes panels (tile loops over an axis that moves inside) in the whole tree, where values want
 * them to read memory in order. False: no memory. */
bool rd_make_panels(const rd_tree *tree, const rd_choice *choice)
{
    return make_panels(tree, tree->root, choice);
}
