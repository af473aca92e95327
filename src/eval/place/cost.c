/* cost.c - the cost of computing a group of materialised values in one loop nest.
 *
 * A group are the values that share a loop, its members.  A phase is one of several inner loops
 * of the shared one: a value that needs all of another one's results comes a phase later.  A
 * value is inside if a member computes it.
 *
 * Fields. A READ is of a leaf's `slot`, or of another value, its `target`, -1: it is not. A value
 * is a result if `out` >= 0, and a part of a concatenation if `into` >= 0. A term of a subscript
 * with `axis` -1 is a gathered index, the value of an array. */
#include "core/caches.h"
#include "eval/place/place.h"
#include <math.h>

/* Bytes that one iteration of shared loops may keep between phases, such as a row and its
 * exponentials: an L2 cache.  Accumulators may take half of it.  A fixed constant, because it
 * decides whether softmax is one reduction or two, hence bits. */
static const int64_t HELD_BYTES = RD_L2_BYTES;

/* The number of points of a set of axes, as a double: the product of their extents. */
static double points(const rd_placing *p, rd_set axes)
{
    return (double)rd_points_of(p->graph, axes);
}

/* The value of the graph that is entry `materialised` of p->list, the stored values. */
static const rd_value *value_of(const rd_placing *p, int materialised)
{
    return &p->graph->value[p->list[materialised].value];
}

/* ---- Values of the group, and their phases --------------------------------------------------- */
/* Notes that a value is used in this phase (one of several inner loops, one after the other, of
 * the shared loop). Returns its entry in p->touched, which is made at the first call. touch_of
 * is the number of that entry, -1: none yet; first and last are its phases. */
static rd_group_value *group_value_of(rd_placing *p, int value, int phase)
{
    rd_group_value *t;

    if (p->touch_of[value] < 0) {
        p->touch_of[value] = p->n_touched;
        p->touched[p->n_touched++] =
            (rd_group_value){ .value = value, .first = phase, .last = phase };
    }
    t        = &p->touched[p->touch_of[value]];
    t->first = phase < t->first ? phase : t->first;
    t->last  = phase > t->last ? phase : t->last;
    return t;
}

/* True if a reader of value m must run in a later inner loop (phase), because m is complete only
 * after a loop inside the axes `shared`. Not if both have an axis outside `shared`, at the same
 * index: in a loop over it the reader follows at once, as in sums of pair distances. use->same
 * has the axes along which the reader reads m at its own index. */
static bool needs_later_phase(const rd_value *m, const rd_use *use, rd_set shared)
{
    const rd_set inner = m->axes & ~shared;

    return inner ? (inner & ~use->same) != 0 : (rd_reduced(m) & ~shared) != 0;
}

/* The phase (number of the inner loop, one after the other) in which member `a` of a group is
 * computed: after all that it reads from members. Operands come first in the group, so their
 * phases are known. `inside`: a member makes the value, in phase `made`; needs_later_phase(): it
 * is complete only after that inner loop. */
static int phase_of(const rd_placing *p, const rd_materialised *a, rd_set shared)
{
    int phase = 0;

    for (int u = 0; u < a->n_use; u++) {
        int t = p->touch_of[a->use[u].value], after;

        if (t < 0 || !p->touched[t].inside)
            continue;
        after = p->touched[t].made +
                needs_later_phase(&p->graph->value[a->use[u].value], &a->use[u], shared);
        phase = after > phase ? after : phase;
    }
    return phase;
}

/* Lists in p->touched the values that the n members of a group make or read, with the first and
 * last phase (inner loop) that uses each. `shared`: axes of the loops that all members share.
 * `readers` counts the members that read it. */
static void list_group_values(rd_placing *p, int n, const int32_t *group, rd_set shared)
{
    p->n_touched = 0;
    for (int i = 0; i < n; i++) {
        const rd_materialised *a     = &p->list[group[i]];
        int                    phase = phase_of(p, a, shared);
        rd_group_value        *t     = group_value_of(p, a->value, phase);

        t->inside = true;
        t->made   = phase;
        for (int u = 0; u < a->n_use; u++)
            group_value_of(p, a->use[u].value, phase)->readers++;
    }
}

/* Forgets the values of a group, for the next call. */
static void forget(rd_placing *p)
{
    for (int i = 0; i < p->n_touched; i++)
        p->touch_of[p->touched[i].value] = -1;
}

/* ---- Costs ----------------------------------------------------------------------------------- */
/* The axis along which a value is contiguous in memory: stride 1 or -1 of a leaf's READ, or the
 * last dim of a stored value; -1: there is none. */
static int unit_axis(const rd_value *v)
{
    if (v->kind == RD_VALUE_READ && v->target < 0) {
        for (int t = 0; t < v->at[0].n_term; t++)
            if (v->at[0].term[t].axis >= 0 &&
                (v->at[0].term[t].coef == 1 || v->at[0].term[t].coef == -1))
                return v->at[0].term[t].axis;
        return -1;
    }
    return v->n_dim ? v->dim[v->n_dim - 1] : -1;
}

/* True if a member of the group makes the value and only members read it, so that it need not be
 * written to memory. */
static bool is_inside(const rd_placing *p, const rd_group_value *t)
{
    const rd_value *m = &p->graph->value[t->value];

    return t->inside && m->out < 0 && m->into < 0 && t->readers == p->readers[t->value];
}

/* True if one of the group's reductions has its SIMD lanes along the axis, or there are no
 * reductions. */
static bool has_lanes_along(const rd_placing *p, int n, const int32_t *group, int axis)
{
    bool any = false;

    for (int i = 0; i < n; i++) {
        const rd_value *v = value_of(p, group[i]);

        if (v->combine && v->combine->lane_axis == axis)
            return true;
        any |= v->combine != NULL;
    }
    return !any;
}

/* Bytes of a value that one iteration of the shared loops touches in two phases (inner loops), and
 * that must stay in cache between them. `wide`: it is contiguous along a shared axis, so that a
 * whole panel of columns is loaded with each. Rows that are sorted some elements at a time
 * (strips) are taken at once. A panel has RD_PANEL columns. 0: m has no axis outside `shared`. */
static double held_bytes(const rd_placing *p, int n, const int32_t *group, const rd_group_value *t,
                         rd_set shared)
{
    const rd_value *m     = &p->graph->value[t->value];
    const rd_set    inner = m->axes & ~shared;
    const int       unit  = unit_axis(m);
    const bool      wide  = unit >= 0 && rd_in(shared, unit) &&
                      (!is_inside(p, t) || has_lanes_along(p, n, group, unit));

    if (m->strips)
        return 0;
    return inner ? rd_dtype_size(m->type) * points(p, inner) * (wide ? RD_PANEL : 1) : 0;
}

/* True if not all members of the group loop over the same set of axes. */
static bool have_different_spaces(const rd_placing *p, int n, const int32_t *group)
{
    for (int i = 1; i < n; i++)
        if (rd_space(value_of(p, group[i])) != rd_space(value_of(p, group[0])))
            return true;
    return false;
}

/* This many accumulators of each vector element stay in registers: a force has a few
 * coordinates.  NEAR_REGISTERS stay in the first-level cache.  They cost no more than to read
 * what the group has made again for each of them: the weight of a pair for each coordinate. */
enum { IN_REGISTERS = 8, NEAR_REGISTERS = 64 };

/* True if m reads a value of the group that does not vary along axes `inner`. So it is the same
 * for all accumulators that m has at a time, as the weight of a pair is for each coordinate of its
 * force. */
static bool repeats_member(const rd_placing *p, const rd_value *m, rd_set inner)
{
    const rd_materialised *a = &p->list[p->number[m - p->graph->value]];

    for (int u = 0; u < a->n_use; u++) {
        const int t = p->touch_of[a->use[u].value];

        if (t >= 0 && p->touched[t].inside && !(p->graph->value[a->use[u].value].axes & inner))
            return true;
    }
    return false;
}

/* The cost of accumulators of reduction m that do not fit in registers: all lanes of each are
 * loaded and stored for every index of x. They come from memory if they take more than half of
 * what a cache may hold. So features of a pair's distance are not summed outside the loops over
 * pairs. `shared` are the axes of loops around; up to IN_REGISTERS accumulators fit, up to
 * NEAR_REGISTERS if m reads a member that is the same for all (repeats_member()). */
static double accumulator_cost(const rd_placing *p, const rd_value *m, rd_set shared, int x)
{
    const rd_set inner = m->axes & ~shared;
    const double each  = points(p, inner) * (m->combine ? m->combine->lanes : 1);
    const double bytes = each * rd_dtype_size(m->type);

    if (each <= IN_REGISTERS || (each <= NEAR_REGISTERS && repeats_member(p, m, inner)))
        return 0;
    /* accesses to them all, in the loop over x */
    return points(p, m->axes) * (double)p->graph->axis[x].extent *
           (2 * bytes > HELD_BYTES ? RD_PRICE_READ + RD_PRICE_WRITE : 2 * RD_PRICE_NEAR);
}

/* The cost in operations of moving a value into the group's loops (made elsewhere), out of
 * them, or from one phase (inner loop) to a later one. With one shared loop it comes from
 * memory; with several (near), the outer ones have brought it into a cache. t->inside: a member
 * makes it; is_inside(): only members read it. */
static double transfer_cost(const rd_placing *p, const rd_group_value *t, rd_set shared)
{
    const rd_value *m    = &p->graph->value[t->value];
    bool            near = (shared & (shared - 1)) != 0; /* several shared axes */

    if (!t->inside)
        return points(p, m->axes) * (near ? RD_PRICE_NEAR : RD_PRICE_READ);
    if (!is_inside(p, t))
        return points(p, m->axes) * (near ? RD_PRICE_NEAR : RD_PRICE_WRITE);
    return t->first != t->last && (m->axes & ~shared) ? points(p, m->axes) * RD_PRICE_NEAR : 0;
}

/* The cost in operations of computing a group of n members in one nest that shares the axes
 * `shared`, x the innermost. HUGE_VAL if one iteration keeps more bytes between inner loops than
 * the cache holds. Accumulators of reductions over x count only if the members loop over
 * different sets of axes (differ). p->touched lists all values that the group makes or reads. */
double rd_group_cost(rd_placing *p, int n, const int32_t *group, rd_set shared, int x)
{
    bool   differ = have_different_spaces(p, n, group);
    double cost = 0, held = 0;

    list_group_values(p, n, group, shared);
    for (int i = 0; i < p->n_touched; i++) {
        const rd_group_value *t = &p->touched[i];
        const rd_value       *m = &p->graph->value[t->value];

        if (t->first != t->last)
            held += held_bytes(p, n, group, t, shared);
        cost += transfer_cost(p, t, shared);
        if (t->inside && differ && rd_in(rd_reduced(m), x))
            cost += accumulator_cost(p, m, shared, x);
    }
    forget(p);
    return held > HELD_BYTES ? HUGE_VAL : cost;
}
