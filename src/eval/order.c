/* order.c - the order of loops for memory: panels, tasks.
 *
 * place puts kept axes outside reduced ones, so that results close early.  Where neighbours along a kept axis are the
 * lanes, that loop becomes a tile loop (a panel) and the axis moves innermost inside it: memory is walked in order and
 * the partial results of a panel stay in cache.  None of this changes a bit: the combine trees are fixed. */
#include "eval/place.h"

/* Bytes across a panel: shorter strips of columns read from DRAM lose half the bandwidth. */
static const int64_t PANEL_BYTES = 32 << 10;
/* Accumulators with lanes in a panel: a quarter of a second-level cache, as rows of values live there as well. */
static const int64_t LANES_BYTES = 256 << 10;
/* Fewer neighbours than a cache line holds: one result after the other touches the same lines as all together, and
 * keeps its partial result in registers. */
static const int64_t FEW = 16;
/* Elements: neighbours this close share cache lines. */
static const int64_t NEAR = 8;

/* ---- Panels -------------------------------------------------------------------------------------------------------- */
typedef struct survey {
    const rd_tree *tree;
    int            axis;
    bool           wanted, forbidden;
    int            bytes; /* of the widest value per index of the axis            */
    double         held;  /* of what stays in cache between phases, per index     */
    int64_t        lanes; /* of accumulators with several lanes, per index        */
} survey;

/* One lane's accumulators are walked in order; those of several lanes lie apart, and all should stay in cache. */
static int64_t lane_bytes(const rd_graph *g, const rd_value *v, int axis)
{
    int64_t rows = 2;

    if (!v->combine || v->combine->lanes == 1 || !rd_in(v->axes, axis))
        return 0;
    for (int64_t n = rd_points_of(g, v->reduced) / (v->combine->lanes * 64) + 1; n > 0; n /= 2)
        rows += 2; /* two nodes a level of the combine tree */
    return rows * v->combine->lanes * 8;
}

static int64_t coef_of(const rd_subscript *at, int axis)
{
    for (int t = 0; t < at->n_term; t++)
        if (at->term[t].axis == axis)
            return at->term[t].coef < 0 ? -at->term[t].coef : at->term[t].coef;
    return 0;
}

/* Elements between neighbours along the axis where a kept value is stored. */
static int64_t step_of(const rd_tree *tree, int value, int axis)
{
    const rd_value *v    = &tree->graph->value[value];
    int64_t         step = 1;

    if (v->kind == RD_VALUE_READ)
        return coef_of(&v->at[0], axis);
    if (v->out >= 0)
        return coef_of(&v->store, axis);
    if (!rd_in(v->axes, axis))
        return v->whole; /* read at places of its own, windows and the like: taken for near */
    for (int d = v->n_dim; d-- > 0 && v->dim[d] != axis;)
        if (rd_in(tree->home[value].stored, v->dim[d]))
            step *= tree->graph->axis[v->dim[d]].extent;
    return step;
}

/* What anchor `a` reads: is some of it near along the axis, is none far? */
static void look_at_reads(const survey *s, int a, bool *some, bool *all)
{
    *some = false;
    *all  = true;
    for (int u = 0; u < s->tree->anchor[a].n_use; u++) {
        int64_t step = step_of(s->tree, s->tree->anchor[a].use[u].value, s->axis);

        *some |= step >= 1 && step <= NEAR;
        *all &= step <= NEAR;
    }
}

/* A fold whose lanes are kept neighbours that lie together in memory; a stored map whose rows would be columns. */
static bool wants_panel(const survey *s, int value, const rd_scope *scope)
{
    const rd_value *v = &s->tree->graph->value[value];
    bool            some, all;

    if (scope->axis == s->axis) /* innermost already */
        return false;
    look_at_reads(s, s->tree->number[value], &some, &all);
    if (v->combine)
        return v->combine->lanes == 1 && v->combine->lane_axis == s->axis && (v->reduced & ~scope->open) == 0 && some;
    return step_of(s->tree, value, s->axis) == 1 && all && (v->out >= 0 || s->tree->home[value].keep == RD_KEEP_ARRAY);
}

static void look(survey *s, const rd_scope *scope)
{
    for (const rd_item *item = scope->first; item; item = item->next) {
        const rd_value *v;

        if (item->loop) {
            look(s, item->loop);
            continue;
        }
        v = &s->tree->graph->value[item->value];
        s->forbidden |= rd_in(v->reduced, s->axis);
        s->wanted |= wants_panel(s, item->value, scope);
        if (rd_dtype_size(v->type) > s->bytes)
            s->bytes = rd_dtype_size(v->type);
        s->lanes += lane_bytes(s->tree->graph, v, s->axis);
        /* The scratch row itself, and as much of what it is made from. */
        if (s->tree->home[item->value].keep == RD_KEEP_SCRATCH)
            s->held += 2.0 * rd_dtype_size(v->type) *
                       (double)rd_points_of(s->tree->graph, s->tree->home[item->value].stored & ~rd_bit(s->axis));
    }
}

static bool has_loop(const rd_scope *scope)
{
    for (const rd_item *item = scope->first; item; item = item->next)
        if (item->loop)
            return true;
    return false;
}

static bool wants_inside(const rd_tree *tree, const rd_item *item, int axis)
{
    survey s = { .tree = tree, .axis = axis };

    if (!item->loop)
        return false;
    look(&s, item->loop);
    return s.wanted;
}

/* Wraps runs of what does not want the axis innermost in a loop over it; goes on inside the other loops. */
static bool sink(const rd_tree *tree, rd_scope *scope, int axis)
{
    for (rd_item **at = &scope->first; *at; at = &(*at)->next) {
        rd_scope *loop;
        rd_item  *wrapper, *last;

        if (wants_inside(tree, *at, axis)) {
            if (!sink(tree, (*at)->loop, axis))
                return false;
            continue;
        }
        loop    = rd_pool_get(tree->graph->pool, sizeof *loop);
        wrapper = rd_pool_get(tree->graph->pool, sizeof *wrapper);
        if (!loop || !wrapper)
            return false;
        loop->axis  = axis;
        loop->first = *at;
        for (last = *at; last->next && !wants_inside(tree, last->next, axis);)
            last = last->next;
        *wrapper   = (rd_item){ .value = -1, .loop = loop, .next = last->next };
        last->next = NULL;
        *at        = wrapper;
    }
    return true;
}

/* Whole lines wide, but no wider than lets accumulators with lanes, and what is kept between phases, stay in cache. */
static int64_t panel_step(const survey *s, int64_t fewest)
{
    int64_t step = PANEL_BYTES / s->bytes, extent = s->tree->graph->axis[s->axis].extent;

    if (s->lanes && LANES_BYTES / s->lanes < step)
        step = LANES_BYTES / s->lanes < fewest ? fewest : LANES_BYTES / s->lanes;
    if (s->held * (double)step > RD_HALF_L2) {
        step = (int64_t)(RD_HALF_L2 / s->held) / RD_PANEL * RD_PANEL;
        step = step > RD_PANEL ? step : RD_PANEL;
    }
    return step < extent ? step : extent;
}

static bool make_panels(const rd_tree *tree, rd_scope *scope, int64_t fewest)
{
    const rd_graph *g = tree->graph;

    for (rd_item *item = scope->first; item; item = item->next) {
        rd_scope *loop = item->loop;
        survey    s    = { .tree = tree, .axis = loop ? loop->axis : -1, .bytes = 1 };

        if (!loop)
            continue;
        look(&s, loop);
        if (!has_loop(loop) || !s.wanted || s.forbidden || g->axis[loop->axis].extent < fewest) {
            if (!make_panels(tree, loop, fewest))
                return false;
            continue;
        }
        loop->step = panel_step(&s, fewest);
        if (!sink(tree, loop, loop->axis))
            return false;
        loop->tile = true;
    }
    return true;
}

/* ---- Tasks ---------------------------------------------------------------------------------------------------------- */
static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Indices of the root axis that make whole blocks of a fold's combine tree. */
static int64_t block_grain(const rd_graph *g, const rd_combine *c, int axis)
{
    int64_t weight = 1, lane = 1, unit;
    int     k = c->n_order;

    for (int l = c->first_lane; l < c->n_order; l++)
        lane *= g->axis[c->order[l]].extent;
    while (k > 0 && c->order[--k] != axis)
        weight *= g->axis[c->order[k]].extent;
    if (k >= c->first_lane) {
        unit = c->lanes * c->steps;
    } else {
        unit = c->steps;
        if (lane > 0)
            weight = weight / lane * ((lane + c->lanes - 1) / c->lanes);
    }
    return weight > 0 ? unit / gcd(unit, weight) : 1;
}

static void plan_tasks(const rd_tree *tree, rd_stage *stage)
{
    const rd_graph *g = tree->graph;

    stage->root  = stage->item->loop ? stage->item->loop->axis : -1;
    stage->grain = 1;
    for (int a = 0; stage->root >= 0 && a < tree->n_anchor; a++) {
        const rd_value *v = &g->value[tree->anchor[a].value];
        const rd_scope *s = tree->home[tree->anchor[a].value].where;
        int64_t         grain;

        while (s->parent && s->parent->parent)
            s = s->parent;
        if (s != stage->item->loop || !rd_in(v->reduced, stage->root))
            continue;
        if (v->kind == RD_VALUE_SCAN || v->combine->steps == INT64_MAX) {
            stage->serial = true;
            continue;
        }
        grain        = block_grain(g, v->combine, stage->root);
        stage->grain = stage->grain / gcd(stage->grain, grain) * grain;
    }
}

rd_nest *rd_order(rd_tree *tree, rd_traversal traversal)
{
    rd_graph *g    = tree->graph;
    rd_nest  *nest = rd_pool_get(g->pool, sizeof *nest);
    int       n    = 0;

    if (!nest ||
        (traversal != RD_TRAVERSE_LAZY && !make_panels(tree, tree->root, traversal == RD_TRAVERSE_GREEDY ? 2 : FEW)) ||
        !rd_settle_homes(tree))
        return NULL;
    for (rd_item *item = tree->root->first; item; item = item->next)
        n++;
    nest->tree  = tree;
    nest->stage = rd_pool_get(g->pool, (size_t)(n + 1) * sizeof *nest->stage);
    if (!nest->stage)
        return NULL;
    for (rd_item *item = tree->root->first; item; item = item->next) {
        rd_stage *stage = &nest->stage[nest->n_stage];

        if (!item->loop && g->value[item->value].kind == RD_VALUE_JOIN)
            continue; /* storage only */
        stage->item = item;
        plan_tasks(tree, stage);
        nest->n_stage++;
    }
    return nest;
}
