/* grain.c - where tasks that share a loop may begin, as its folds say.
 *
 * Blocks of a combine tree stay whole where bits hang on them.  Of an extreme, or a sum of ints, they
 * do not: its blocks are as long as is good for one thread, often as long as the loop, and so tasks
 * begin within them where whole ones would be few. */
#include "core/tree.h"
#include "eval/order/order.h"

/* An index of the root axis moves a fold on by so many elements of its lanes, or by so many steps of all
 * lanes. */
typedef struct place {
    int64_t weight;
    bool    in_lanes;
} place;

static place place_of(const rd_graph *g, const rd_combine *c, int axis)
{
    place   at   = { .weight = 1 };
    int64_t lane = 1;
    int     k    = c->n_order;

    for (int l = c->first_lane; l < c->n_order; l++)
        lane *= g->axis[c->order[l]].extent;
    while (k > 0 && c->order[--k] != axis)
        at.weight *= g->axis[c->order[k]].extent;
    at.in_lanes = k >= c->first_lane;
    if (!at.in_lanes && lane > 0)
        at.weight = at.weight / lane * ((lane + c->lanes - 1) / c->lanes);
    return at;
}

/* Indices that make whole units. */
static int64_t whole(int64_t unit, int64_t weight)
{
    return weight > 0 ? unit / rd_common_divisor(unit, weight) : 1;
}

/* Lanes stay aligned, as which of two zeros is the least hangs on them. */
static int64_t loose_grain(const rd_value *v, place at)
{
    return at.in_lanes ? whole(v->combine->lanes, at.weight) : 1;
}

/* Compiled loops have narrower states for a block of small ints, which are worth more than tasks: but
 * not where an element comes once for a whole loop beside it. */
static bool may_be_loose(const rd_graph *g, const rd_value *v, bool beside_loop)
{
    const bool sums = v->reducer == RD_RED_sum && v->group < 0;

    return rd_reducer_any_grouping((rd_reducer_id)v->reducer, g->value[v->in[0]].type) &&
           (!sums || beside_loop);
}

int64_t rd_fold_grain(const rd_graph *g, const rd_value *v, int axis, bool beside_loop)
{
    const rd_combine *c     = v->combine;
    const place       at    = place_of(g, c, axis);
    const int64_t     grain = whole(at.in_lanes ? c->lanes * c->steps : c->steps, at.weight);

    if (grain <= g->axis[axis].extent / RD_ENOUGH || !may_be_loose(g, v, beside_loop))
        return grain;
    return loose_grain(v, at);
}
