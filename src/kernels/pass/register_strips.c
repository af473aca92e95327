/* register_strips.c - Replaces a region whose strips would keep more states than a cache holds
 * by strips along the axis of the fold's cells.
 *
 * A product of any semiring has a cell for each column j, and steps along k. With strips of rows
 * i, each step loads and stores the states of all columns for 64 rows. With strips of columns,
 * the states of 64 columns and a few rows stay in registers for all steps (register blocking):
 *
 *     serial j by 64 { serial i by 4 { begin; serial k { vector j { four rows } } .. } }
 *
 * This is a rule, as prices do not see the cache level of states, nor jammed rows.
 *
 * A region is a loop, or a body of loops, with one loop over strips; `around`: it is a body.  A
 * cell is an accumulator of the fold.
 *
 * Words. Scratch is temporary memory of a task. */
#include "kernels/pass/strip_at.h"

/* NEAR_BYTES: the size of a first-level cache.  STRIP: elements of a strip, each with a state. */
enum { NEAR_BYTES = 32 << 10, STRIP = 64 };

/* Returns the axis of a loop around the step, within the region (loops that share strips) but not
 * the region's axis, along which the fold has so many cells (accumulators) that 64 states of each
 * exceed a first-level cache; -1: there is none. */
static int32_t axis_of_cells(const rd_strip_at *r, int32_t step)
{
    const rd_loop_fold *f = &r->t->fold[r->t->stmt[step].fold];

    for (int32_t s = r->t->stmt[step].parent; s != r->top && s >= 0; s = r->t->stmt[s].parent) {
        const rd_for *loop = r->t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(r->t, s) : NULL;
        const int64_t bytes =
            (int64_t)STRIP * f->emit.n_state * rd_register_size(f->emit.fold->type);

        if (loop && loop->axis != r->axis && rd_coef(&f->emit.fold->cell, loop->axis) &&
            rd_trips_of(r->t, s) * (double)bytes > NEAR_BYTES)
            return loop->axis;
    }
    return -1;
}

/* Returns the body that the loop stands in, if no other statement there has a body of its own, so
 * that strips (ranges that vector loops visit) can be put around it all; else -1. */
static int32_t body_of(const rd_schedule *t, int32_t loop)
{
    const int32_t body = t->stmt[loop].parent;

    for (int32_t s = body >= 0 ? t->stmt[body].first : -1; s >= 0; s = t->stmt[s].next)
        if (s != loop && t->stmt[s].first >= 0)
            return -1;
    return body;
}

/* True if several rows along the old axis, `axis`, could be jammed (unroll-and-jam) in strips
 * (ranges that vector loops visit) of the new one (r->axis), so that their states (accumulators)
 * stay in registers. It fills `fold` and a strip of its own as for the new region (loops that share
 * strips), without changing the tree. rd_may_enclose(): a loop over the new axis may stand around
 * all of the body. */
static bool can_jam_rows(const rd_strip_at *r, int32_t axis, rd_fold_in_strip *fold)
{
    rd_strip    strip = { .axis = r->axis, .around = true };
    const char *why;

    if (!rd_may_enclose(r->t, r->top, r->axis, &why))
        return false;
    rd_find_fold_mappings(r, fold);
    rd_find_width(r, fold, &strip);
    RD_EACH_IN (r, s)
        if (r->t->stmt[s].kind == RD_S_LOOP && rd_loop_of(r->t, s)->axis == axis &&
            rd_unroll_jam_outer_rounds(r, &strip, fold, s) > 1)
            return true;
    return false;
}

/* For each step of a fold that begins in the region: looks for an axis of cells (accumulators)
 * along which strips (ranges that vector loops visit) would keep the states in registers. True:
 * *by gets the first such region, with strips around the same body. */
bool rd_prefers_register_strips(const rd_strip_at *r, rd_fold_in_strip *fold, rd_strip_at *by)
{
    RD_EACH_IN (r, s) {
        const bool is_step = r->t->stmt[s].kind == RD_S_STEP;

        *by = *r;
        if (!is_step || !rd_fold_begins_in(r->t, r->t->stmt[s].fold, r->top))
            continue;
        by->axis        = axis_of_cells(r, s);
        by->top         = r->top_is_body ? r->top : body_of(r->t, r->top);
        by->top_is_body = true;
        if (by->axis >= 0 && by->top >= 0 && can_jam_rows(by, r->axis, fold))
            return true;
    }
    return false;
}
