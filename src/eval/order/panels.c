/* panels.c - kept loops go inside the loops that walk memory in larger steps.
 *
 * A kept loop whose neighbours lie together becomes a tile loop (a panel), and the axis moves
 * inside: memory is walked in order, and the partial results of a panel stay in cache.  Where one
 * panel would hold the whole axis there is no tile loop, and the loop that it moved into takes its
 * place: at the root the loop over rows, which tasks share by whole blocks, so that each of them
 * reads one run of memory. */
#include "eval/order/order.h"
#include "core/machine_memory.h"
#include <math.h>

/* Bytes across a panel of rows that are streamed from memory.  Partial results of this many bytes
 * come back with every row: wider panels walk memory in longer runs, until they and a few rows no
 * longer fit a second-level cache; strips of 8 KiB read from DRAM lose half the bandwidth.  The
 * scalar executor holds some hundred bytes for each result. */
static const int64_t PANEL_BYTES = RD_L2_BYTES / 4;
/* Bytes across a panel of values that are walked again and again: the first-level cache. */
static const int64_t HOT_BYTES = RD_L1_BYTES;
/* Accumulators with lanes in a panel: a second-level cache. */
static const int64_t LANES_BYTES = RD_L2_BYTES;
/* What a panel holds between phases: half of one, as rows of values live there as well. */
static const int64_t HELD_BYTES = RD_L2_BYTES / 2;
/* Partial results of all columns of an array that memory does not keep: more would not fit beside it. */
static const int64_t MOST_BYTES = 64 << 20;
/* Fewer neighbours than a cache line holds: one result after the other touches the same lines as
 * all together, and keeps its partial result in registers.  Unless rows adjoin: then all together
 * are one run of memory. */
static const int64_t FEW = 16;
/* Elements: neighbours this close share cache lines. */
static const int64_t NEAR = 8;
/* Runs of memory that prefetchers follow side by side. */
static const int64_t STREAMS = 16;
static const double  LINE    = 64; /* bytes */

typedef struct panel {
    const rd_tree   *tree;
    const rd_choice *choice;
    int              axis;
    int64_t          extent, fewest;
    bool             forbidden;
    int              bytes; /* of the widest value per index of the axis            */
    int64_t          step;  /* elements between neighbours, the most of all reads   */
    double           held;  /* of what stays in cache between phases, per index     */
    int64_t          lanes; /* of accumulators with several lanes, per index        */
} panel;

static const rd_anchor *anchor_of(const rd_tree *tree, int value)
{
    return &tree->anchor[tree->number[value]];
}

/* ---- Which loops should the axis go into? ---------------------------------------------------- */
/* What the anchor reads: is some of it near along the axis, is none far? */
static void look_at_reads(const panel *p, const rd_anchor *a, bool *some, bool *all)
{
    *some = false;
    *all  = true;
    for (int u = 0; u < a->n_use; u++) {
        int64_t step = rd_step_of(p->tree, a->use[u].value, p->axis);

        *some |= step >= 1 && step <= NEAR;
        *all &= step <= NEAR;
    }
}

/* Are the rows that it reads along the axis, one for each index of `outer`, one run of memory? */
static bool rows_adjoin(const panel *p, const rd_anchor *a, int outer)
{
    bool any = false;

    for (int u = 0; u < a->n_use; u++) {
        int64_t step = rd_step_of(p->tree, a->use[u].value, p->axis);

        if (step > 1 || (step == 1 && rd_step_of(p->tree, a->use[u].value, outer) != p->extent))
            return false;
        any |= step == 1;
    }
    return any;
}

static bool is_cached(const panel *p, int value)
{
    const rd_value *v = &p->tree->graph->value[value];

    return rd_points_of(p->tree->graph, v->axes) <= RD_CACHED_BYTES / rd_dtype_size(v->type);
}

/* A fold whose lanes lie along a reduced axis, in memory further out than the kept one (image
 * channels: the lanes of all are one run of memory), or in runs of their own too short to stream,
 * while those of the neighbours continue them.  Not those that one element decides: one at a time they end early. */
static bool lanes_want(const panel *p, const rd_value *v, const rd_anchor *a, int outer)
{
    bool any = false;

    if (!rd_in(v->axes, p->axis) || rd_value_decides(v))
        return false;
    for (int u = 0; u < a->n_use; u++) {
        const int     read = a->use[u].value;
        const int64_t step = rd_step_of(p->tree, read, p->axis);

        if (step >= 1 && step >= rd_step_of(p->tree, read, outer))
            return false;
        if (step > 1 && (step * rd_dtype_size(p->tree->graph->value[read].type) >= RD_RUN_BYTES ||
                         p->tree->graph->axis[outer].extent <= STREAMS || is_cached(p, read)))
            return false;
        if (step == 1 && rd_step_of(p->tree, read, v->combine->lane_axis) != p->extent)
            return false;
        any |= step >= 1;
    }
    return any;
}

/* Should the axis of a kept loop stand inside the loop over `outer`, for value's sake?  For a fold
 * whose lanes are kept neighbours that lie together in memory; for a stored map whose rows would be
 * columns. */
static bool wants(const panel *p, int value, const rd_scope *scope, int outer)
{
    const rd_value  *v = &p->tree->graph->value[value];
    const rd_anchor *a = anchor_of(p->tree, value);
    bool             some, all;

    if (scope->axis == p->axis) /* innermost already */
        return false;
    if (v->combine && v->combine->lanes > 1)
        return lanes_want(p, v, a, outer);
    if (p->extent < p->fewest && !rows_adjoin(p, a, scope->axis))
        return false;
    look_at_reads(p, a, &some, &all);
    if (v->combine)
        return v->combine->lane_axis == p->axis && (v->reduced & ~scope->open) == 0 && some;
    return rd_step_of(p->tree, value, p->axis) == 1 && all &&
           (v->out >= 0 || p->tree->home[value].keep == RD_KEEP_ARRAY);
}

static bool some_want(const panel *p, const rd_scope *scope, int outer)
{
    for (const rd_item *item = scope->first; item; item = item->next)
        if (item->loop ? some_want(p, item->loop, outer) : wants(p, item->value, scope, outer))
            return true;
    return false;
}

static bool wants_inside(const panel *p, const rd_item *item)
{
    return item->loop && some_want(p, item->loop, item->loop->axis);
}

static bool is_wanted(const panel *p, const rd_scope *loop)
{
    for (const rd_item *item = loop->first; item; item = item->next)
        if (wants_inside(p, item))
            return true;
    return false;
}

/* Wraps runs of what does not want the axis inside in a loop over it; goes on inside the other
 * loops. */
static bool sink(const panel *p, rd_scope *scope)
{
    for (rd_item **at = &scope->first; *at; at = &(*at)->next) {
        rd_item *wrapper, *last = *at, *rest;

        if (wants_inside(p, *at)) {
            if (!sink(p, (*at)->loop))
                return false;
            continue;
        }
        while (last->next && !wants_inside(p, last->next))
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

/* ---- How wide? ------------------------------------------------------------------------------- */
/* One lane's accumulators are walked in order; those of several lanes lie apart, and should stay in
 * cache: the block that is folded, and the nodes it merges with three times out of four. */
static int64_t lane_bytes(const rd_value *v, int axis)
{
    return v->combine && v->combine->lanes > 1 && rd_in(v->axes, axis)
               ? (int64_t)4 * v->combine->lanes * 8
               : 0;
}

/* Indices of an axis of which a range is at hand there. */
static int64_t range_of(const rd_graph *g, const rd_scope *scope, int axis)
{
    for (; scope; scope = scope->parent)
        if (scope->tile && scope->axis == axis)
            return scope->step;
    return g->axis[axis].extent;
}

/* Rows of the axis that scratch has. */
static double rows_held(const panel *p, int value)
{
    const rd_home *home = &p->tree->home[value];
    double         rows = 1;

    for (int a = 0; a < p->tree->graph->n_axis; a++)
        if (a != p->axis && rd_in(home->stored, a))
            rows *= (double)range_of(p->tree->graph, home->home, a);
    return rows;
}

static void look(panel *p, const rd_scope *scope)
{
    for (const rd_item *item = scope->first; item; item = item->next) {
        const rd_value  *v;
        const rd_anchor *a;

        if (item->loop) {
            look(p, item->loop);
            continue;
        }
        v = &p->tree->graph->value[item->value];
        a = anchor_of(p->tree, item->value);
        p->forbidden |= rd_in(v->reduced, p->axis);
        if (rd_dtype_size(v->type) > p->bytes)
            p->bytes = rd_dtype_size(v->type);
        for (int u = 0; u < a->n_use; u++)
            if (rd_step_of(p->tree, a->use[u].value, p->axis) > p->step)
                p->step = rd_step_of(p->tree, a->use[u].value, p->axis);
        p->lanes += lane_bytes(v, p->axis);
        /* The scratch row itself, and as much of what it is made from. */
        if (p->tree->home[item->value].keep == RD_KEEP_SCRATCH)
            p->held += 2.0 * rd_dtype_size(v->type) * rows_held(p, item->value);
    }
}

/* Is there an array of which each iteration of `outer` reads a row along the axis, and none that it
 * reads a column of? Other values are read again by each iteration, or one by one. */
static bool reads_rows(const panel *p, const rd_scope *scope, int outer, bool *some)
{
    for (const rd_item *item = scope->first; item; item = item->next) {
        const rd_anchor *a = item->loop ? NULL : anchor_of(p->tree, item->value);

        if (item->loop && !reads_rows(p, item->loop, outer, some))
            return false;
        for (int u = 0; a && u < a->n_use; u++) {
            int64_t near = rd_step_of(p->tree, a->use[u].value, p->axis);
            int64_t far  = rd_step_of(p->tree, a->use[u].value, outer);

            if (near && far && near >= far)
                return false;
            *some |= near && far;
        }
    }
    return true;
}

static bool streams(const panel *p, const rd_scope *loop)
{
    bool some = false;

    return loop && reads_rows(p, loop, loop->axis, &some) && some;
}

static int64_t scaled(const panel *p, int64_t bytes)
{
    return p->choice->panel >= 0 ? bytes << p->choice->panel : bytes >> -p->choice->panel;
}

static bool has_loops(const rd_scope *scope)
{
    bool found = false;

    for (const rd_item *item = scope->first; item; item = item->next)
        found |= item->loop != NULL;
    return found;
}

/* Rows of a pattern are loops that tasks share, and each of them takes all its columns together. */
static bool folds_rows(const panel *p, const rd_scope *loop)
{
    enum { MANY = 1024 };

    return p->extent <= MANY && rd_folds_places(p->tree, loop) == RD_PATTERN_ROWS;
}

/* Is some array larger than what memory keeps of a file?  Then whatever lies between rows of a panel is
 * read again with each panel, from the disk: partial results of all go with one pass. */
static bool is_too_large(const panel *p, const rd_scope *scope)
{
    const rd_graph *g     = p->tree->graph;
    bool            found = false;

    for (const rd_item *item = scope->first; item && !found; item = item->next) {
        const rd_anchor *a = item->loop ? NULL : anchor_of(p->tree, item->value);

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

/* Whole lines wide, but no wider than lets accumulators with lanes, and what is kept between
 * phases, stay in cache. */
static int64_t panel_step(const panel *p, const rd_scope *loop)
{
    const rd_scope *rows  = rd_only_loop(loop);
    const int64_t   lanes = scaled(p, LANES_BYTES);
    int64_t         step  = scaled(p, streams(p, rows) ? PANEL_BYTES : HOT_BYTES) / p->bytes;

    if (folds_rows(p, loop))
        return p->extent;
    if (is_too_large(p, loop))
        return MOST_BYTES / p->bytes < p->extent ? MOST_BYTES / p->bytes : p->extent;
    if (rows && rd_runs_across(p->tree, rows, p->axis)) {
        const int64_t side = has_loops(rows) ? RD_SQUARES : RD_FOLDED_SQUARES;
        step               = step < side ? step : side;
    }
    if (p->lanes && lanes / p->lanes < step)
        step = lanes / p->lanes < p->fewest ? p->fewest : lanes / p->lanes;
    if (p->held * (double)step > HELD_BYTES) {
        step = (int64_t)(HELD_BYTES / p->held) / RD_PANEL * RD_PANEL;
        step = step > RD_PANEL ? step : RD_PANEL;
    }
    return step < p->extent ? step : p->extent;
}

/* ---- Panels ---------------------------------------------------------------------------------- */
/* At the root, what stands in the loop would become stages of their own: good if there is but one
 * pass over memory, row by row, and rows make enough tasks.  How many that is grows with the width:
 * tasks that share rows hold all results and join them at the end, tasks that share columns read
 * strips that are too short unless rows are long. */
static bool may_share_rows(const panel *p, const rd_scope *loop)
{
    const rd_scope *rows  = rd_only_loop(loop);
    const double    bytes = (double)p->extent * (double)p->step * p->bytes,
                 strips   = floor(bytes / RD_STRIP_BYTES);
    rd_sharing s;

    if (folds_rows(p, loop))
        return true;
    if (!streams(p, rows) || !some_want(p, rows, rows->axis))
        return false;
    s = rd_share(p->tree, rows, rows->axis);
    if (s.serial)
        return bytes <= LINE;
    return is_too_large(p, loop) || (double)rd_grains(p->tree, rows->axis, s) >= strips * strips;
}

/* The loop's items take its place. */
static void splice(rd_item **at)
{
    rd_item *last = (*at)->loop->first, *rest = (*at)->next;

    *at = last;
    while (last->next)
        last = last->next;
    last->next = rest;
}

static bool make_panels(const rd_tree *tree, rd_scope *scope, const rd_choice *choice);

static bool make_panel(const rd_tree *tree, rd_item **at, bool root, const rd_choice *choice)
{
    rd_scope *loop = (*at)->loop;
    panel     p    = { .tree = tree, .choice = choice, .axis = loop->axis, .bytes = 1, .step = 1 };
    bool      whole;

    if (loop->tile) /* rows.c and squares.c know how wide theirs are */
        return make_panels(tree, loop, choice);
    p.extent = tree->graph->axis[loop->axis].extent;
    p.fewest = choice->traversal == RD_TRAVERSE_GREEDY ? 2 : FEW;
    look(&p, loop);
    if (p.forbidden || p.extent < 2 || !is_wanted(&p, loop))
        return make_panels(tree, loop, choice);
    loop->step = panel_step(&p, loop);
    whole      = loop->step == p.extent && (!root || may_share_rows(&p, loop));
    if (!sink(&p, loop))
        return false;
    loop->tile = !whole;
    if (whole)
        splice(at);
    return true;
}

static bool make_panels(const rd_tree *tree, rd_scope *scope, const rd_choice *choice)
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

bool rd_make_panels(const rd_tree *tree, const rd_choice *choice)
{
    return make_panels(tree, tree->root, choice);
}
