/* piece_bounds.c - Computes where the pieces of a bounded loop begin and end: see
 * index_set_split.c.
 *
 * A bound (rd_bound) is a sum of terms that is not negative where the mask is true: an offset,
 * factors times axes, and factors times values of memory.  A piece is a range of the loop in which
 * the mask is true, false or unknown.
 *
 * Fields. A loop's `start_mark` and `stop_mark` are its marks, axes bound to where its round begins
 * and ends, -1: none. */
#include "kernels/loop/facts.h"
#include "kernels/pass/index_set_split.h"

/* ---- What indices come to in the loop -------------------------------------------------------- */
/* Returns the smallest, or largest (`most`), index of an axis in the loop's rounds. A loop around
 * over single indices (no marks) gives its index, one over ranges the ends of its range: stop - 1
 * is the largest. Else the root axis has the task's share (RD_MARK_LO, RD_MARK_HI) unless one task
 * runs all, and other axes have all indices. */
rd_linear rd_index_bound(rd_range_split *c, int32_t axis, bool most)
{
    rd_schedule  *t      = c->t;
    const int32_t binder = rd_binder_of(t, c->stmt, axis);
    const rd_for *loop   = binder >= 0 ? rd_loop_of(t, binder) : NULL;
    const int32_t marks  = t->p->n_axis; /* the first mark */

    if (loop && loop->start_mark < 0)
        return rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, axis);
    if (loop)
        return rd_linear_plus_axis(t, rd_linear_of(-most), /*coef=*/1,
                                   most ? loop->stop_mark : loop->start_mark);
    if (axis == t->p->root && !t->whole)
        return rd_linear_plus_axis(t, rd_linear_of(-most), /*coef=*/1,
                                   marks + (most ? RD_MARK_HI : RD_MARK_LO));
    return rd_linear_of(most ? t->p->axis_extent[axis] - 1 : 0);
}

/* Returns a value that memory holds, as a position, clamped to 2^60 either way, so that sums of
 * such values cannot overflow. */
static rd_linear clamped_value(rd_range_split *c, int32_t value)
{
    const int64_t most = INT64_C(1) << 60;
    rd_linear     at   = rd_linear_plus_value(c->t, rd_linear_of(0), /*coef=*/1, value);

    at = rd_index_min(&c->n, at, rd_linear_of(most));
    return rd_index_max(&c->n, at, rd_linear_of(-most));
}

/* Returns the smallest or largest (`most`) value of a bound (a sum of terms, not negative where a
 * mask is true), without the term of the loop's own index. A term is largest at its axis's largest
 * index if its factor is positive, else at the smallest. */
static rd_linear bound_without_loop(rd_range_split *c, const rd_bound *b, bool most)
{
    const int32_t loop_axis = rd_loop_of(c->t, c->stmt)->axis;
    rd_linear     at        = rd_linear_of(b->offset);

    for (int32_t k = 0; k < b->n_reg; k++)
        at = rd_linear_plus(c->t, at, b->reg_coef[k], clamped_value(c, b->reg[k]));
    for (int32_t k = 0; k < b->n_add; k++)
        if (b->axis[k] != loop_axis && b->coef[k])
            at = rd_linear_plus(c->t, at, b->coef[k],
                                rd_index_bound(c, b->axis[k], (b->coef[k] > 0) == most));
    return at;
}

/* Returns the index from which on the low bound holds, plus `more`. The bound is index + rest >=
 * 0, so this is -rest: with the rest's largest value (`most`) it may hold, with its smallest it
 * holds surely. */
static rd_linear low_bound(rd_range_split *c, bool most, int64_t more)
{
    return rd_linear_plus(c->t, rd_linear_of(more), /*coef=*/-1,
                          bound_without_loop(c, &c->bounds->low, most));
}

/* Returns the index up to which the high bound holds, plus `more`. The bound is rest - index >= 0,
 * so this is the rest: with its largest value (`most`) it may hold, with its smallest it holds
 * surely. */
static rd_linear high_bound(rd_range_split *c, bool most, int64_t more)
{
    return rd_linear_plus(c->t, rd_linear_of(more), /*coef=*/1,
                          bound_without_loop(c, &c->bounds->high, most));
}

/* ---- Ends of pieces -------------------------------------------------------------------------- */
/* Clamps the position to the loop's range if borders may be anywhere (by 1).  Else it rounds the
 * distance from the start to whole steps, down, or up (`behind`).  From the loop's end on the
 * result is the end. c->grain is the width of a strip. */
rd_linear rd_round_to_step(rd_range_split *c, rd_linear at, bool behind)
{
    rd_index_math *n = &c->n;
    rd_linear      whole;

    if (c->grain == 1)
        return rd_index_min(n, rd_index_max(n, at, c->from), c->to);
    whole = rd_linear_plus(c->t, at, /*coef=*/-1, c->from);
    whole.offset += behind ? c->grain - 1 : 0;
    whole = rd_linear_plus(c->t, c->from, c->grain, rd_index_divide(n, whole, c->grain));
    whole = rd_index_max(n, whole, c->from);
    if (behind)
        whole = rd_index_min(n, whole, c->to);
    return rd_index_select(n, at, c->to, c->to, whole);
}

/* Sets first and last, outside which the mask is false: the loosest values of both bounds, rounded
 * outwards to whole strips (ranges that vector loops visit). One masked index more on either side
 * is visited, and at least one of the whole range lo to hi, as a masked element turns a sum of -0
 * into 0. So low_bound() gets -1 more; high_bound() gets 2 more, of which 1 makes the last index an
 * end. */
void rd_find_visited(rd_range_split *c, rd_pieces *p)
{
    rd_index_math *n   = &c->n;
    rd_linear      end = rd_linear_plus(c->t, rd_linear_of(-1), /*coef=*/1, c->hi), low = c->lo,
              high = c->hi;

    if (p->before)
        low = rd_index_min(n, low_bound(c, /*most=*/true, /*more=*/-1), end);
    if (p->behind) {
        const rd_linear visited_low = rd_index_max(n, low, c->lo);

        high = rd_index_max(n, high_bound(c, /*most=*/true, /*more=*/2),
                            rd_linear_plus(c->t, rd_linear_of(1), /*coef=*/1, visited_low));
    }
    p->visited_from = p->before ? rd_round_to_step(c, low, /*behind=*/false) : c->from;
    p->visited_to =
        p->behind ? rd_index_max(n, p->visited_from, rd_round_to_step(c, high, /*behind=*/true))
                  : c->to;
}

/* Sets begin and end, between which the mask is true: the tightest values of both bounds, rounded
 * inwards to whole strips (ranges that vector loops visit) and kept within [first, last]. The high
 * bound holds up to an index, so the end is 1 more. */
void rd_find_covered(rd_range_split *c, rd_pieces *p)
{
    rd_index_math *n = &c->n;

    p->covered_from = p->visited_from;
    p->covered_to   = p->visited_to;
    if (p->before) {
        p->covered_from =
            rd_round_to_step(c, low_bound(c, /*most=*/false, /*more=*/0), /*behind=*/true);
        p->covered_from =
            rd_index_min(n, rd_index_max(n, p->visited_from, p->covered_from), p->visited_to);
    }
    if (p->behind) {
        p->covered_to =
            rd_round_to_step(c, high_bound(c, /*most=*/false, /*more=*/1), /*behind=*/false);
        p->covered_to =
            rd_index_min(n, rd_index_max(n, p->covered_from, p->covered_to), p->visited_to);
    }
}
