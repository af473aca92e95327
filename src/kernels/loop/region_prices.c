/* region_prices.c - the price of a region of strips of one axis.
 *
 * A round takes about as long as its busiest unit: arithmetic, loads, stores, or the dependency
 * chain.  Loops in a body follow each other.  In a region, loops over the axis are vector loops,
 * the other loops stand around strips, and states that begin in it are in registers.
 *
 * Words: a strip is a number of neighbouring indices of one axis, 64 or 1024 here.  An entry is the
 * time to begin and end a loop.  The tail is the rounds behind the last full vector.  Numbers
 * without a name are estimates.
 *
 * Words. A fold is a reduction or a scan. A slot is a buffer that a program reads or writes. */
#include "kernels/loop/region_prices.h"
#include "kernels/loop/price_parts.h"
#include "kernels/loop/facts.h"
#include "kernels/loop/vector_rounds.h"
#include <math.h>
#include <string.h>

/* Elements of a strip of a long axis. */
enum { LONG_STRIP = 1024 };

/* Returns the time of one round: that of its busiest unit, and a fifth of the others, which share
 * the instruction slots of a cycle. */
static double busiest_ns(const rd_unit_ns *e)
{
    static const double EXPOSED = 0.2;
    const double        most    = fmax(fmax(e->arithmetic, e->chain), fmax(e->loads, e->stores));

    return most + EXPOSED * fmax(0, e->arithmetic + e->loads + e->stores - most);
}

/* Adds a price, and the part of it that enters loops and folds, to a sum. */
static void add(rd_nanoseconds *sum, rd_nanoseconds more)
{
    sum->ns += more.ns;
    sum->entries += more.entries;
}

/* ---- Bodies ---------------------------------------------------------------------------------- */
static rd_nanoseconds price_in_region(rd_pricing *q, int32_t stmt, int32_t axis);

/* Describes the place of the statements of a body, as their price depends on it: the loops around
 * them, and the region (loops that share strips) that is priced. `vector`: the vector loop around
 * them, -1: none. */
static rd_price_site site_in(const rd_pricing *q, int32_t body, int32_t vector)
{
    return (rd_price_site){ .t         = q->t,
                            .s         = q->s,
                            .vector    = vector,
                            .top       = q->top,
                            .loop      = rd_is_loop(q, body) ? body : -1,
                            .varies    = q->varies,
                            .in_region = q->in_region };
}

/* Returns the price of one round of a body: of its own statements by the busiest unit of the
 * processor, and of its loops, one behind the other. */
rd_nanoseconds rd_price_of_body(rd_pricing *q, int32_t body, int32_t vector)
{
    const rd_price_site at     = site_in(q, body, vector);
    rd_unit_ns          effort = { 0 };
    rd_nanoseconds      sum    = { 0 };

    for (int32_t s = q->t->stmt[body].first; s >= 0; s = q->t->stmt[s].next)
        if (rd_has_body(q, s))
            add(&sum, rd_price_of_stmt(q, s, vector));
        else
            rd_price_statement(&at, s, &effort);
    add(&sum, (rd_nanoseconds){ busiest_ns(&effort) + effort.entries, effort.entries });
    return sum;
}

/* Returns the price of a body within a region (loops that share strips), whose loops all go strip
 * by strip: values that stand in the body itself are made once a strip (q->strips of them). Folds
 * that begin here have their states (accumulators) in registers, so their statements are not
 * counted. */
static rd_nanoseconds price_of_body_in_region(rd_pricing *q, int32_t body, int32_t axis)
{
    const rd_price_site at     = site_in(q, body, /*vector=*/-1);
    rd_unit_ns          effort = { 0 };
    rd_nanoseconds      sum    = { 0 };

    for (int32_t s = q->t->stmt[body].first; s >= 0; s = q->t->stmt[s].next)
        if (rd_has_body(q, s))
            add(&sum, price_in_region(q, s, axis));
        else if (q->t->stmt[s].kind == RD_S_LET)
            rd_price_statement(&at, s, &effort);
    sum.ns += busiest_ns(&effort) * q->strips;
    return sum;
}

/* ---- Vector loops ---------------------------------------------------------------------------- */
/* True if a loop or an IF stands directly in the loop's body. */
static bool has_inner_loops(const rd_pricing *q, int32_t loop)
{
    for (int32_t s = q->t->stmt[loop].first; s >= 0; s = q->t->stmt[s].next)
        if (rd_has_body(q, s))
            return true;
    return false;
}

/* Returns the price of a round of the tail, the rounds behind the last full vector. Such rounds
 * are independent, so no dependency chain delays them. */
static rd_nanoseconds price_of_single_round(const rd_pricing *q, int32_t loop)
{
    const rd_price_site at     = { .t = q->t, .s = q->s, .vector = -1, .top = -1, .loop = loop };
    rd_unit_ns          effort = { 0 };

    for (int32_t s = q->t->stmt[loop].first; s >= 0; s = q->t->stmt[s].next)
        rd_price_statement(&at, s, &effort);
    effort.chain = 0;
    return (rd_nanoseconds){ busiest_ns(&effort), 0 };
}

/* Returns the price of all rounds of a vector loop: full vectors, and the tail one by one. A round
 * of the tail of a loop with loops inside takes 0.3 of a vector of 4 numbers, about, and more of a
 * longer vector. rd_vector_rounds_of() splits the rounds in these two. */
static rd_nanoseconds price_of_rounds(rd_pricing *q, int32_t loop)
{
    static const double    ONE = 0.3; /* the part of a vector of 4 that a round takes, about */
    const rd_vector_rounds n   = rd_vector_rounds_of(q->t, loop, q->r->trips[loop], q->s->vector);
    const rd_nanoseconds   one_round = rd_price_of_body(q, loop, loop);
    rd_nanoseconds         sum       = rd_times(one_round, n.by_vectors, /*entry=*/0);

    add(&sum, has_inner_loops(q, loop)
                  ? rd_times(one_round, n.single * ONE * q->s->vector / 4, /*entry=*/0)
                  : rd_times(price_of_single_round(q, loop), n.single, /*entry=*/0));
    return sum;
}

/* Returns the price of one round of those steps of a group-by that must stay serial, in a loop of
 * their own, as neighbours may have the same label. */
static rd_nanoseconds price_of_serial_steps(const rd_pricing *q, int32_t loop)
{
    const rd_price_site at     = { .t = q->t, .s = q->s, .vector = -1, .top = -1, .loop = loop };
    rd_unit_ns          effort = { 0 };

    for (int32_t s = q->t->stmt[loop].first; s >= 0; s = q->t->stmt[s].next)
        if (q->t->stmt[s].kind == RD_S_STEP &&
            rd_needs_serial_steps(q->t, q->t->stmt[s].fold, loop))
            rd_price_statement(&at, s, &effort);
    return (rd_nanoseconds){ busiest_ns(&effort), 0 };
}

/* True if a loop around reuses the states (accumulators) of a step in the vector loop in all its
 * rounds. A few of these rounds are then jammed (unroll-and-jam), and share one entry of the loop.
 */
static bool is_shared(const rd_pricing *q, int32_t loop)
{
    const rd_price_site at = site_in(q, loop, loop);

    for (int32_t s = rd_next_stmt(q->t, loop, loop); s >= 0; s = rd_next_stmt(q->t, s, loop))
        if (q->t->stmt[s].kind == RD_S_STEP && rd_reuses_states(&at, s))
            return true;
    return false;
}

/* Returns the time of the entries of a vector loop, one for each strip: pointers to first
 * elements, and the tail count as LOOPS entries. Loops of a known number of at most FEW rounds are
 * written out, and have none. */
static double entries_of_vectors(const rd_pricing *q, int32_t loop)
{
    enum { LOOPS = 2, FEW = 4, JAMMED = 4 };

    if (rd_most_trips(q->t, loop) >= 0 && q->r->trips[loop] <= FEW)
        return 0;
    return LOOPS * q->s->loop * q->strips / (is_shared(q, loop) ? JAMMED : 1);
}

/* ---- Regions --------------------------------------------------------------------------------- */
/* Returns the time to enter a round of a loop that stands around strips (ranges that vector loops
 * visit), once for each strip. Loops of a known number of at most SHORT rounds are written out,
 * and have none. */
static double entry_of_round(const rd_pricing *q, int32_t loop)
{
    enum { SHORT = 8 };

    return rd_most_trips(q->t, loop) >= 0 && q->r->trips[loop] <= SHORT ? 0
                                                                        : q->s->loop * q->strips;
}

/* Returns the price of a statement with a body in a region (loops that share strips). A loop over
 * the region's axis, or one that is a vector loop already, is priced as vectors, with the serial
 * steps behind it. Any other loop stays around strips. rd_times() is a price times n, plus the time
 * of entering loops. */
static rd_nanoseconds price_in_region(rd_pricing *q, int32_t stmt, int32_t axis)
{
    rd_nanoseconds sum;

    if (!rd_is_loop(q, stmt))
        return price_of_body_in_region(q, stmt, axis);
    if (!rd_is_over(q, stmt, axis) && rd_loop_of(q->t, stmt)->kind != RD_FOR_VECTOR)
        return rd_times(price_of_body_in_region(q, stmt, axis), q->r->trips[stmt],
                        q->r->trips[stmt] * entry_of_round(q, stmt));
    rd_find_varying(q->t, stmt, q->varies);
    sum = price_of_rounds(q, stmt);
    add(&sum, rd_times(price_of_serial_steps(q, stmt), q->r->trips[stmt], /*entry=*/0));
    add(&sum, rd_times((rd_nanoseconds){ 0 }, /*n=*/0, entries_of_vectors(q, stmt)));
    return sum;
}

/* Returns how many strips the longest loop over the axis has: of 64 elements, or of 1024 if it is
 * longer than that. */
static double strips_of(const rd_pricing *q, int32_t top, int32_t axis)
{
    double length = 0;

    for (int32_t s = top; s >= 0; s = rd_next_stmt(q->t, s, top))
        if (rd_is_loop(q, s) && rd_loop_of(q->t, s)->axis == axis)
            length = fmax(length, q->r->trips[s]);
    return ceil(length / (length > LONG_STRIP ? LONG_STRIP : RD_PRICED_STRIP));
}

/* Marks in q->in_region the folds that begin in the region (loops that share strips), as their
 * states (accumulators) stay in registers. */
static void find_folds_in_region(rd_pricing *q, int32_t top)
{
    for (int32_t s = rd_next_stmt(q->t, top, top); s >= 0; s = rd_next_stmt(q->t, s, top))
        if (q->t->stmt[s].kind == RD_S_BEGIN)
            q->in_region[q->t->stmt[s].fold] = true;
}

/* Prices a region, the loops in `top` that share strips of the axis. `around`: `top` is a body
 * that holds several loops over the axis, which pays one more loop, over the strips; else it is
 * such a loop itself. q->top and q->in_region are set meanwhile. */
rd_nanoseconds rd_price_of_region(rd_pricing *q, int32_t top, bool around, int32_t axis)
{
    rd_nanoseconds sum;

    find_folds_in_region(q, top);
    q->top    = around ? top : q->t->stmt[top].parent;
    q->strips = strips_of(q, top, axis);
    sum       = around ? price_of_body_in_region(q, top, axis) : price_in_region(q, top, axis);
    if (around)
        add(&sum, rd_times((rd_nanoseconds){ 0 }, /*n=*/0, q->s->loop * q->strips));
    memset(q->in_region, 0, (size_t)q->t->p->n_fold);
    q->top = -1;
    return sum;
}
