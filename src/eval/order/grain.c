/* grain.c - the grain of a reduction: at which multiples of a loop's index tasks may begin.
 *
 * Blocks of a combine tree stay whole if bits depend on them.  Bits of an extreme or an int sum
 * do not.  Their blocks are as long as suits one thread, often the whole loop, so tasks may
 * begin within blocks if there are few.
 *
 * Fields. `group` is the axis of a group-by's groups, `inner` that of a reducer's outputs or of a
 * sorted row, -1: none. */
#include "core/combine_tree.h"
#include "eval/order/order.h"

/* How far one index of the root axis moves a reduction: in elements of its lanes, or in steps of
 * all lanes. */
typedef struct place {
    int64_t weight;   /* elements or steps */
    bool    in_lanes; /* elements: the axis is part of the lane position */
} place;

/* Computes how far one index of the axis moves a reduction in its combine tree, from the extents
 * of the axes inside it. In elements if the axis is part of the lane position (along which
 * elements go to SIMD accumulators in turn), else in steps of all lanes. `lane` is the extent of
 * the lane position; it takes lane / lanes steps, rounded up. */
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

/* The least number of indices, of `weight` elements each, that make a whole number of units: 12
 * and 8 give 3. */
static int64_t whole(int64_t unit, int64_t weight)
{
    return weight > 0 ? unit / rd_common_divisor(unit, weight) : 1;
}

/* The grain (tasks begin at its multiples) that keeps only lanes (SIMD accumulators) aligned,
 * because the choice between +0 and -0 depends on them; blocks need not be whole. If the axis is
 * no part of the lane position, any grain will do. */
static int64_t loose_grain(const rd_value *v, place at)
{
    return at.in_lanes ? whole(v->combine->lanes, at.weight) : 1;
}

/* True if tasks may begin within blocks of the combine tree, as any grouping gives the same bits.
 * Not for int sums in a loop of their own: compiled loops have narrower accumulators for whole
 * blocks, which gain more. beside_loop: another loop is in the same body. */
static bool may_be_loose(const rd_graph *g, const rd_value *v, bool beside_loop)
{
    const rd_reducer_id reducer = (rd_reducer_id)v->reducer;
    const bool          sums    = rd_reducer_adds_elements(reducer) && v->group < 0;

    return rd_reducer_any_grouping(reducer, g->value[v->in[0]].type) && (!sums || beside_loop);
}

/* The grain of one reduction: the multiple of the axis' index at which a task may begin. It
 * makes whole blocks of the combine tree, unless they are too few for RD_ENOUGH tasks and may
 * be split. c->steps is the length of a block; place_of() finds how far one index of the axis
 * moves the fold, whole() the least multiple for whole blocks; may_be_loose(): blocks may be
 * split, as loose_grain() does. */
int64_t rd_fold_grain(const rd_graph *g, const rd_value *v, int axis, bool beside_loop)
{
    const rd_combine *c     = v->combine;
    const place       at    = place_of(g, c, axis);
    const int64_t     grain = whole(at.in_lanes ? c->lanes * c->steps : c->steps, at.weight);

    if (grain <= g->axis[axis].extent / RD_ENOUGH || !may_be_loose(g, v, beside_loop))
        return grain;
    return loose_grain(v, at);
}
