/* trips.c - how often the statements of a loop tree are run, and how much memory they touch.
 *
 * A round is one iteration of a loop.  A mark is an axis that is bound to the begin (`start`) or
 * the end (`stop`) of a round, for loops inside that visit the round's range.  Where bounds differ
 * from time to time, means are estimated.
 *
 * Fields. A bound has n parts, of which the greatest or the least counts; one with by > 1 is
 * rounded to a multiple. A loop's `program_loop` is the number of the program's loop that it comes
 * from, -1: none. A term of a position with `axis` -1 is a value, an index that is read at run
 * time.
 *
 * Words. A fold is a reduction or a scan. A lane is one of the accumulators of a cell, to which
 * elements go in turn. */
#include "kernels/loop/facts.h"
#include <math.h>

enum { LINE = 64 };

/* ---- Rounds ---------------------------------------------------------------------------------- */
static double mean_of(const rd_schedule *t, int32_t stmt, const rd_linear *at);

/* Returns the mean of a loop bound, from the means of its parts: of the greatest part (`from`), or
 * of the least (`to`). Rounding of parts is left out. */
static double mean_edge(const rd_schedule *t, int32_t loop, const rd_edge *edge, bool greatest)
{
    double found = 0;

    for (int32_t k = 0; k < edge->n; k++) {
        const double at = mean_of(t, loop, &edge->part[k].at);

        if (k == 0 || (greatest ? at > found : at < found))
            found = at;
    }
    return found;
}

/* Returns the loop around whose round is exactly this loop's range, from its start mark to its
 * stop mark; -1: there is none. */
static int32_t range_of(const rd_schedule *t, int32_t loop)
{
    const rd_for *l = rd_loop_of(t, loop);

    for (int32_t s = rd_loop_around(t, loop); s >= 0; s = rd_loop_around(t, s))
        if (rd_is_mark(t, &l->from, rd_loop_of(t, s)->start_mark) &&
            rd_is_mark(t, &l->to, rd_loop_of(t, s)->stop_mark))
            return s;
    return -1;
}

/* Returns the mean number of indices that a loop covers each time that it is reached: the length
 * of a round of the loop around that cuts its range (range_of), or the distance of its bounds. */
static double length_of(const rd_schedule *t, int32_t loop)
{
    const rd_for *l     = rd_loop_of(t, loop);
    const int32_t range = range_of(t, loop);
    const double  n     = range >= 0 ? length_of(t, range) / rd_trips_of(t, range)
                                     : mean_edge(t, loop, &l->to, /*greatest=*/false) -
                                      mean_edge(t, loop, &l->from, /*greatest=*/true);

    return n > 0 ? n : 0;
}

/* True if a CUT in the loop's body ends each round where a block (a run of a fold's steps) of the
 * fold ends. */
bool rd_ends_with_block(const rd_schedule *t, int32_t fold, int32_t loop)
{
    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next)
        if (t->stmt[s].kind == RD_S_CUT_AT_BLOCK && t->stmt[s].fold == fold)
            return true;
    return false;
}

/* Returns how many indices of the loop's axis one block of the fold has that ends its rounds.
 * `steps`: how many steps one index moves an element; it may be a fraction, as the lanes of a step
 * lie side by side. Else the loop's whole length. */
static double block_length(const rd_schedule *t, int32_t loop)
{
    const rd_for *l = rd_loop_of(t, loop);

    for (int32_t k = 0; k < t->p->n_fold; k++) {
        const rd_fold *f     = &t->p->fold[k];
        const int64_t  outer = rd_coef(&f->lane_line, l->axis), lane = rd_coef(&f->lane, l->axis);
        const double   steps =
            (double)outer * (double)rd_rows_of_lanes(f) + (double)lane / (double)f->lanes;

        if (rd_ends_with_block(t, k, loop) && steps > 0 && f->n_block > 1)
            return (double)f->steps / steps;
    }
    return length_of(t, loop);
}

/* Returns the mean number of rounds of a loop each time that it is reached.  Bounds in memory have
 * no mean, so the program's own estimate counts; loops that are not of the program then count as
 * one round. The last, shorter round counts as one (ceil). */
double rd_trips_of(const rd_schedule *t, int32_t loop)
{
    const rd_for *l = rd_loop_of(t, loop);
    double        step, n;

    if (rd_edge_has_values(t, &l->from) || rd_edge_has_values(t, &l->to))
        return l->program_loop >= 0 ? (double)rd_trips(t->p, l->program_loop) : 1;
    step = l->step > 0 ? (double)l->step : block_length(t, loop);
    n    = step > 0 ? length_of(t, loop) / step : 1;
    return n <= 1 || step <= 1 ? n : ceil(n);
}

/* Returns the mean index of an axis, or a mark (axis bound to an end of a round), at a statement.
 * A mark of the task's share that no loop binds counts as the begin or the end of the whole root
 * axis, as all tasks together share it. */
static double mean_axis(const rd_schedule *t, int32_t stmt, int32_t axis)
{
    const int32_t binder = rd_binder_of(t, stmt, axis), n_axis = t->p->n_axis;
    const rd_for *l;
    double        from, trips, step;

    if (binder < 0)
        return axis == n_axis + RD_MARK_HI && t->p->root >= 0
                   ? (double)t->p->axis_extent[t->p->root]
                   : 0;
    l     = rd_loop_of(t, binder);
    trips = rd_trips_of(t, binder);
    step  = trips > 0 ? length_of(t, binder) / trips : 0;
    from  = mean_edge(t, binder, &l->from, /*greatest=*/true) +
           (trips > 1 ? (trips - 1) * step / 2 : 0);
    return axis == l->stop_mark && axis != l->axis ? from + step : from;
}

/* Returns the mean of a position.  Values that are read at run time count as 0. */
static double mean_of(const rd_schedule *t, int32_t stmt, const rd_linear *at)
{
    double sum = (double)at->offset;

    for (int32_t k = 0; k < at->n; k++)
        if (t->term[at->first + k].axis >= 0)
            sum += (double)t->term[at->first + k].coef *
                   mean_axis(t, stmt, t->term[at->first + k].axis);
    return sum;
}

/* True if the bound is a constant: one part, no terms, not rounded. */
static bool is_constant(const rd_edge *edge)
{
    return rd_is_position(edge) && edge->part[0].at.n == 0;
}

/* Returns the greatest trip count of a loop: by constant bounds, or by the step of the loop around
 * that cuts its range (range_of), but at most `extent`; else `extent`, -1: not known. */
int64_t rd_most_trips(const rd_schedule *t, int32_t loop)
{
    const rd_for *l     = rd_loop_of(t, loop);
    const int64_t step  = l->step > 0 ? l->step : 1;
    const int32_t range = range_of(t, loop);
    int64_t       n     = l->extent;

    if (is_constant(&l->from) && is_constant(&l->to))
        n = l->to.part[0].at.offset - l->from.part[0].at.offset;
    else if (range >= 0 && rd_loop_of(t, range)->step > 0)
        n = rd_loop_of(t, range)->step;
    else
        return n;
    n = n <= 0 ? 0 : (n - 1) / step + 1;
    return l->extent >= 0 && l->extent < n ? l->extent : n;
}

/* Returns how often a statement is run in one round of a loop around it, in the mean; loop -1: in
 * all.  The body of an IF counts as run every other time. */
double rd_rounds_within(const rd_schedule *t, int32_t stmt, int32_t loop)
{
    double n = 1;

    for (int32_t s = t->stmt[stmt].parent; s >= 0 && s != loop; s = t->stmt[s].parent)
        if (t->stmt[s].kind == RD_S_LOOP)
            n *= rd_trips_of(t, s);
        else if (t->stmt[s].kind == RD_S_IF)
            n /= 2;
    return n;
}

/* Returns how often a statement is run in all, by all tasks. */
double rd_rounds_of(const rd_schedule *t, int32_t stmt)
{
    return rd_rounds_within(t, stmt, /*loop=*/-1);
}

/* ---- Footprints ------------------------------------------------------------------------------ */
enum { MOST_MOVES = 32 }; /* loops around an access that are looked at */
typedef struct inner_stride {
    double n, by; /* rounds; elements from one to the next, not negative */
} inner_stride;

/* Lists the loops between a statement and `loop` that move its address, by rising stride; returns
 * how many. *gathers gets the product of the rounds of those that move it in an unknown way, as
 * each of them goes to another place. Loops beyond MOST_MOVES are left out. */
static int32_t inner_strides_of(const rd_schedule *t, int32_t loop, int32_t stmt,
                                inner_stride *found, double *gathers)
{
    int32_t n = 0;

    *gathers = 1;
    for (int32_t s = rd_loop_around(t, stmt); s >= 0 && s != loop; s = rd_loop_around(t, s)) {
        const rd_stride stride = rd_usual_stride(t, s, stmt);
        const double    by     = (double)(stride.by < 0 ? -stride.by : stride.by);
        int32_t         k      = n;

        if (!stride.known)
            *gathers *= rd_trips_of(t, s);
        if (!stride.known || by <= 0 || n == MOST_MOVES)
            continue;
        for (; k > 0 && found[k - 1].by > by; k--)
            found[k] = found[k - 1];
        found[k] = (inner_stride){ rd_trips_of(t, s), by };
        n++;
    }
    return n;
}

/* Returns the cache lines of so many adjacent elements, the first of which begins a line. */
static double lines_in(double elements, double bytes)
{
    return ceil(elements * bytes / LINE);
}

/* Adds up the memory that an access touches in one round of the loop. Strides are taken from the
 * smallest on. A stride that stays within a cache line of the span so far extends the span; a
 * greater one makes several runs. `run`: elements touched in a span; `span`: its length in
 * elements; they differ if it has gaps. `whole`: the span has no gaps and fills at least one line.
 */
rd_footprint rd_footprint_of(const rd_schedule *t, int32_t loop, int32_t stmt)
{
    rd_access     access[2];
    inner_stride  move[MOST_MOVES];
    const int32_t n_access = rd_accesses_of(t, stmt, access);
    double        gathers, runs = 1, size, run = n_access ? (double)access[0].n : 0, span = run;
    const int32_t n = n_access ? inner_strides_of(t, loop, stmt, move, &gathers) : 0;

    if (!n_access)
        return (rd_footprint){ .whole = true };
    size = rd_dtype_size(access[0].type);
    for (int32_t k = 0; k < n; k++)
        if (span + LINE / size > move[k].by) { /* the next one begins in this line, or within it */
            const double extended = move[k].by * (move[k].n - 1) + span;

            run  = move[k].by <= span && run >= span ? extended : run * move[k].n;
            span = extended;
        } else
            runs *= move[k].n;
    runs *= gathers;
    return (rd_footprint){ .elements = run * runs,
                           .bytes    = run * runs * size,
                           .lines    = runs * lines_in(span, size),
                           .whole    = run >= span && span * size >= LINE };
}
