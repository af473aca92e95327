/* regions.c - chooses the loops that are strip-mined: the regions with the least price
 * (region_prices.c).
 *
 * `around`: `top` is a body that holds loops over the axis, not such a loop itself.  `bare` is a
 * copy of the tree on which legality is asked; there is none if passes have chosen vectors
 * before.
 *
 * Fields. A loop's `program_loop` is the number of the program's loop that it comes from, -1:
 * none. */
#include "kernels/loop/region_prices.h"
#include "kernels/loop/price_parts.h"
#include "kernels/loop/facts.h"
#include <stdlib.h>
#include <string.h>

/* True if the loop stands directly in the body and no other statement there has a body. Strips
 * around the body are then the same as strips (ranges that vector loops visit) of the loop, which
 * are priced by themselves. */
static bool is_alone(const rd_pricing *q, int32_t loop, int32_t body)
{
    for (int32_t s = q->t->stmt[body].first; s >= 0; s = q->t->stmt[s].next)
        if (s != loop && rd_has_body(q, s))
            return false;
    return q->t->stmt[loop].parent == body;
}

/* True if `top` has a loop over the axis that strips (ranges that vector loops visit) can share:
 * itself, or (`around`) one in its body. The root axis, which tasks share, is refused if the rows
 * of each of its indices are known only at run time (one_by_one). bare NULL: passes have chosen
 * vectors before. */
static bool has_loop(const rd_pricing *q, int32_t top, bool around, int32_t axis)
{
    const int32_t loop = around ? rd_loop_over(q->t, top, axis) : top;

    if (q->t->p->one_by_one && axis == q->t->p->root)
        return false;

    return q->r->without_block_ends && loop >= 0 && rd_is_over(q, loop, axis) &&
           !(around && is_alone(q, loop, top));
}

/* True if strips of the axis are legal for the loop `top`, or (`around`) for all loops in the body
 * `top`. It is asked of `without_block_ends`, a copy of the tree without ends of blocks (runs of a
 * fold's steps). */
static bool may_be_region(rd_pricing *q, int32_t top, bool around, int32_t axis)
{
    const char *why   = NULL;
    const bool  legal = around ? rd_may_enclose(q->r->without_block_ends, top, axis, &why)
                               : rd_may_be_strip_mined(q->r->without_block_ends, top, &why);

    q->failed |= why == rd_why_no_memory;
    return legal;
}

/* ---- Which ----------------------------------------------------------------------------------- */
/* Prices strips along an axis, and offers them among the alternatives of the region if they are
 * legal. The legality test takes longer than the price, so it runs only for strips cheaper than
 * the best so far, or if all alternatives are told (explain). */
static void offer_strips(rd_pricing *q, rd_region *r, int32_t axis, rd_nanoseconds *best)
{
    const rd_nanoseconds cost    = rd_price_of_region(q, r->top, r->top_is_body, axis);
    const bool           cheaper = cost.ns < best->ns;

    if ((!cheaper && !q->tells) || !may_be_region(q, r->top, r->top_is_body, axis))
        return;
    rd_offer(&r->of, (rd_alternative){ "strips along axis", cost.ns, axis, /*numbered=*/true });
    if (cheaper)
        *best = cost;
}

/* Marks in r->vector which statements in `top` are loops over the axis, as these become vector
 * loops. */
static void mark_vectors(rd_pricing *q, int32_t top, int32_t axis)
{
    for (int32_t s = top; s >= 0; s = rd_next_stmt(q->t, s, top))
        q->r->vector[s] = rd_is_over(q, s, axis);
}

/* Returns the factor by which strips may cost more than `regions` regions inside, or than serial
 * loops if there are none. Where nothing else is vectorised strips are taken at about the same
 * price, as prices are not that exact. For vectors below 64 bytes prices were never compared with
 * times, so nearly all loops get strips. Strips that several loops share are read while they are
 * cached, which no price sees. */
static double allowance(const rd_speeds *s, int32_t regions, bool around)
{
    return regions == 0 ? (s->vector < 64 ? 16 : 1.25) : around && regions > 1 ? 1.02 : 1;
}

/* Returns the price of the cheapest region of `top`, or `otherwise`, the price without one. Regions
 * n and following are those chosen inside; the new region takes their place if it is cheaper. An
 * alternative's axis (what) of -1 stands for the loops inside by themselves. q->r->n - n is their
 * number. */
static rd_nanoseconds best_of(rd_pricing *q, int32_t top, bool around, rd_nanoseconds otherwise,
                              int32_t n)
{
    rd_region *const r = &q->r->at[q->r->n]; /* behind those inside, until it takes their place */
    rd_nanoseconds   best = otherwise;

    best.ns *= allowance(q->s, q->r->n - n, around);

    *r = (rd_region){ .top = top, .top_is_body = around };
    rd_offer(&r->of, (rd_alternative){ "loops inside by themselves", best.ns, /*what=*/-1,
                                       /*numbered=*/false });
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

/* Returns the price of one round of a body: its statements by themselves, or strips that all its
 * loops over an axis share (a region), whichever is less. n: regions that were found before. */
static rd_nanoseconds price_of_part(rd_pricing *q, int32_t body)
{
    const int32_t        n         = q->r->n;
    const rd_nanoseconds otherwise = rd_price_of_body(q, body, /*vector=*/-1);

    return best_of(q, body, /*around=*/true, otherwise, n);
}

/* Returns the price of a statement with a body. In a vector loop (`vector` >= 0) its rounds are
 * just added up. A vector loop of the tree itself is a region (loops that share strips). Else it is
 * the best of strips of this loop, and of a serial loop around the best regions inside. rd_times()
 * is a price times the rounds, plus the time of entering the loop. */
rd_nanoseconds rd_price_of_stmt(rd_pricing *q, int32_t stmt, int32_t vector)
{
    const int32_t  n = q->r->n;
    rd_nanoseconds serial;

    if (!rd_is_loop(q, stmt)) /* an IF: its body counts as run every other time */
        return rd_times(rd_price_of_body(q, stmt, vector), /*n=*/0.5, /*entry=*/0);
    if (vector >= 0)
        return rd_times(rd_price_of_body(q, stmt, vector), q->r->trips[stmt],
                        q->s->loop / RD_PRICED_STRIP);
    q->r->vector[stmt] = rd_loop_of(q->t, stmt)->kind == RD_FOR_VECTOR;
    if (q->r->vector[stmt])
        return rd_price_of_region(q, stmt, /*around=*/false, rd_loop_of(q->t, stmt)->axis);
    serial = rd_times(price_of_part(q, stmt), q->r->trips[stmt], q->s->loop);
    return best_of(q, stmt, /*around=*/false, serial, n);
}

/* ---- All of it ------------------------------------------------------------------------------- */
/* Fills the mean trip count of each loop. Bounds of a mask leave only a part of the rounds
 * (share). */
static void find_trips(const rd_schedule *t, double *trips)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = rd_next_stmt(t, t->part[k], t->part[k]); s >= 0;
             s         = rd_next_stmt(t, s, t->part[k])) {
            const rd_for    *l = t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(t, s) : NULL;
            const rd_bounds *b =
                l && l->program_loop >= 0 ? t->p->loop[l->program_loop].bounds : NULL;

            if (l)
                trips[s] = rd_trips_of(t, s) * (b ? b->share : 1);
        }
}

/* True if the tree has a vector loop already. */
static bool has_vectors(const rd_schedule *t)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = rd_next_stmt(t, t->part[k], t->part[k]); s >= 0;
             s         = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->kind == RD_FOR_VECTOR)
                return true;
    return false;
}

/* Returns a copy of the tree without ends of blocks (PUSH_IF_LAST; a block is a run of a fold's
 * steps): pass `block_ranges` takes them out of loops, so they prevent no strips. NULL: no memory.
 */
static rd_schedule *copy_without_block_ends(const rd_schedule *t)
{
    rd_schedule *copy = rd_schedule_copy(t);

    for (int32_t s = 0; copy && s < copy->n_stmt; s++)
        if (copy->stmt[s].kind == RD_S_PUSH_IF_LAST)
            rd_take_out(copy, s);
    return copy;
}

/* Allocates all arrays of the search in one piece: trip counts and regions first, as they need
 * alignment, then the arrays of bools. r->at has room for a region of each loop and each part.
 * False: no memory. rd_regions_free() frees the piece. */
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
    q->varies    = q->r->vector + n;
    q->in_region = q->varies + q->t->n_let + 1;
    return true;
}

/* Chooses the regions (groups of loops that share strips) of the head, the body and the tail. A
 * tree that has vector loops already is priced as it is, so `without_block_ends` is not needed.
 * False: no memory. The caller calls rd_regions_free() in any case. */
bool rd_regions_of(const rd_schedule *t, const rd_speeds *s, bool tells, rd_regions *r)
{
    const bool chosen = has_vectors(t);
    rd_pricing q      = { .t = t, .s = s, .r = r, .top = -1, .tells = tells };

    *r = (rd_regions){ .without_block_ends = chosen ? NULL : copy_without_block_ends(t) };
    if ((!r->without_block_ends && !chosen) || !get_memory(&q))
        return false;
    find_trips(t, r->trips);
    for (int k = 0; k < RD_N_PARTS; k++)
        r->part[k] = price_of_part(&q, t->part[k]);
    return !q.failed;
}

/* Frees all memory of what rd_regions_of() found. */
void rd_regions_free(rd_regions *r)
{
    rd_schedule_free(r->without_block_ends);
    free(r->memory);
    *r = (rd_regions){ 0 };
}
