/* regions.c - which loops of a tree go by strips: those that cost least (region_costs.c). */
#include "kernels/loop/region_costs.h"
#include "kernels/loop/effort.h"
#include "kernels/loop/facts.h"
#include <stdlib.h>
#include <string.h>

/* Is it all that loops in a body?  Strips around it are those of the loop. */
static bool is_alone(const rd_pricing *q, int32_t loop, int32_t body)
{
    for (int32_t s = q->t->stmt[body].first; s >= 0; s = q->t->stmt[s].next)
        if (s != loop && rd_has_body(q, s))
            return false;
    return q->t->stmt[loop].parent == body;
}

/* Is there a loop over the axis: the first one in a body. */
static bool has_loop(const rd_pricing *q, int32_t top, bool around, int32_t axis)
{
    const int32_t loop = around ? rd_loop_over(q->t, top, axis) : top;

    if (q->t->p->one_by_one && axis == q->t->p->root)
        return false;

    return q->r->bare && loop >= 0 && rd_is_over(q, loop, axis) &&
           !(around && is_alone(q, loop, top));
}

static bool may_be_region(rd_pricing *q, int32_t top, bool around, int32_t axis)
{
    const char *why = NULL;
    const bool  may = around ? rd_may_go_around(q->r->bare, top, axis, &why)
                             : rd_may_be_strips(q->r->bare, top, &why);

    q->failed |= why == rd_why_no_memory;
    return may;
}

/* ---- Which ------------------------------------------------------------------------------------ */
/* Whether strips may be takes longer than what they cost, so of dear ones only who tells of them asks. */
static void offer_strips(rd_pricing *q, rd_region *r, int32_t axis, rd_nanoseconds *best)
{
    const rd_nanoseconds cost    = rd_cost_of_region(q, r->top, r->around, axis);
    const bool           cheaper = cost.ns < best->ns;

    if ((!cheaper && !q->tells) || !may_be_region(q, r->top, r->around, axis))
        return;
    rd_offer(&r->of, (rd_alternative){ "strips along axis", cost.ns, axis, true });
    if (cheaper)
        *best = cost;
}

/* Loops over the axis are vectors. */
static void mark_vectors(rd_pricing *q, int32_t top, int32_t axis)
{
    for (int32_t s = top; s >= 0; s = rd_next_stmt(q->t, s, top))
        q->r->vector[s] = rd_is_over(q, s, axis);
}

/* By how much more strips may cost.  Where nothing has vectors otherwise they are taken if they cost about
 * as much: prices are not that exact, and of transposes and casts both ways are bound by memory.  Of
 * vectors of less than 64 bytes no prices were compared with times, so nearly all loops have strips there.
 * Strips that several loops share are read while they are near, which no price here sees. */
static double allowance(const rd_speeds *s, int32_t regions, bool around)
{
    return regions == 0 ? (s->vector < 64 ? 16 : 1.25) : around && regions > 1 ? 1.02 : 1;
}

/* The cheapest region, or what there is `otherwise`: the regions from number n on, inside. */
static rd_nanoseconds best_of(rd_pricing *q, int32_t top, bool around, rd_nanoseconds otherwise,
                              int32_t n)
{
    rd_region *const r = &q->r->at[q->r->n]; /* behind those inside, until it takes their place */
    rd_nanoseconds   best = otherwise;

    best.ns *= allowance(q->s, q->r->n - n, around);

    *r = (rd_region){ .top = top, .around = around };
    rd_offer(&r->of, (rd_alternative){ "loops inside by themselves", best.ns, -1, false });
    for (int32_t axis = 0; axis < q->t->p->n_axis; axis++)
        if (has_loop(q, top, around, axis))
            offer_strips(q, r, axis, &best);
    r->axis = rd_take_cheapest(&r->of)->what;
    if (r->axis < 0)
        return otherwise;
    mark_vectors(q, top, r->axis);
    q->r->at[n] = *r;
    q->r->n     = n + 1;
    return best;
}

static rd_nanoseconds cost_of_part(rd_pricing *q, int32_t body)
{
    const int32_t        n         = q->r->n;
    const rd_nanoseconds otherwise = rd_cost_of_body(q, body, -1);

    return best_of(q, body, true, otherwise, n);
}

/* A statement with a body: a loop is the best of itself and of regions in it, unless it stands in
 * a vector loop already. */
rd_nanoseconds rd_cost_of_stmt(rd_pricing *q, int32_t stmt, int32_t vector)
{
    const int32_t  n = q->r->n;
    rd_nanoseconds serial;

    if (!rd_is_loop(q, stmt)) /* every other time */
        return rd_times(rd_cost_of_body(q, stmt, vector), 0.5, 0);
    if (vector >= 0)
        return rd_times(rd_cost_of_body(q, stmt, vector), q->r->trips[stmt],
                        q->s->loop / RD_EFFORT_STRIP);
    q->r->vector[stmt] = rd_loop_of(q->t, stmt)->kind == RD_FOR_VECTOR;
    if (q->r->vector[stmt])
        return rd_cost_of_region(q, stmt, false, rd_loop_of(q->t, stmt)->axis);
    serial = rd_times(cost_of_part(q, stmt), q->r->trips[stmt], q->s->loop);
    return best_of(q, stmt, false, serial, n);
}

/* ---- All of it --------------------------------------------------------------------------------- */
/* Masks of places leave out a share of the rounds. */
static void find_trips(const rd_schedule *t, double *trips)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = rd_next_stmt(t, t->part[k], t->part[k]); s >= 0;
             s         = rd_next_stmt(t, s, t->part[k])) {
            const rd_for    *l = t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(t, s) : NULL;
            const rd_bounds *b = l && l->of >= 0 ? t->p->loop[l->of].bounds : NULL;

            if (l)
                trips[s] = rd_trips_of(t, s) * (b ? b->share : 1);
        }
}

static bool has_vectors(const rd_schedule *t)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = rd_next_stmt(t, t->part[k], t->part[k]); s >= 0;
             s         = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->kind == RD_FOR_VECTOR)
                return true;
    return false;
}

/* Ends of blocks stand in the way of no strips: the pass `block_ranges` takes them out of loops. */
static rd_schedule *without_ends(const rd_schedule *t)
{
    rd_schedule *copy = rd_schedule_copy(t);

    for (int32_t s = 0; copy && s < copy->n_stmt; s++)
        if (copy->stmt[s].kind == RD_S_ENDS)
            rd_take_out(copy, s);
    return copy;
}

/* All arrays in one piece, those of numbers first. */
static bool get_memory(rd_pricing *q)
{
    const size_t n = (size_t)q->t->n_stmt + 1, n_region = (size_t)q->t->n_for + RD_N_PARTS + 1,
                 flags = n + (size_t)q->t->n_let + 1 + (size_t)q->t->p->n_fold + 1;
    char *const memory = malloc(n * sizeof(double) + n_region * sizeof(rd_region) + flags);

    if (!memory)
        return false;
    q->r->memory = memory;
    q->r->trips  = (double *)(void *)memory;
    q->r->at     = (rd_region *)(void *)(memory + n * sizeof(double));
    q->r->vector = (bool *)(q->r->at + n_region);
    memset(q->r->vector, 0, flags);
    q->varies = q->r->vector + n;
    q->near   = q->varies + q->t->n_let + 1;
    return true;
}

bool rd_regions_of(const rd_schedule *t, const rd_speeds *s, bool tells, rd_regions *r)
{
    const bool chosen = has_vectors(t);
    rd_pricing q      = { .t = t, .s = s, .r = r, .top = -1, .tells = tells };

    *r = (rd_regions){ .bare = chosen ? NULL : without_ends(t) };
    if ((!r->bare && !chosen) || !get_memory(&q))
        return false;
    find_trips(t, r->trips);
    for (int k = 0; k < RD_N_PARTS; k++)
        r->part[k] = cost_of_part(&q, t->part[k]);
    return !q.failed;
}

void rd_regions_free(rd_regions *r)
{
    rd_schedule_free(r->bare);
    free(r->memory);
    *r = (rd_regions){ 0 };
}
