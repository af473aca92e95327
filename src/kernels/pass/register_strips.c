/* register_strips.c - strips along the axis of a fold's cells, where strips along another axis would keep more
 * states than a cache holds.
 *
 * A product of any semiring has a cell for each column j, and steps along k.  With strips of rows i all
 * columns' states of 64 rows go to and fro in each step; with strips of columns those of 64 columns and a
 * few rows stay in registers from the first step to the last:
 *
 *     serial j by 64 { serial i by 4 { begin; serial k { vector j { four rows } } .. } }
 *
 * Prices do not see which level of memory states lie in, nor that rows go together, so this is a rule. */
#include "kernels/pass/strip_at.h"

enum { NEAR_BYTES = 32 << 10, STRIP = 64 };

/* The other axis of the region that cells of a fold lie along, if there are more than stay near; -1. */
static int32_t axis_of_cells(const rd_strip_at *r, int32_t step)
{
    const rd_loop_fold *f = &r->t->fold[r->t->stmt[step].fold];

    for (int32_t s = r->t->stmt[step].parent; s != r->top && s >= 0; s = r->t->stmt[s].parent) {
        const rd_for *loop  = r->t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(r->t, s) : NULL;
        const int64_t bytes = (int64_t)STRIP * f->of.n_state * rd_register_size(f->of.fold->type);

        if (loop && loop->axis != r->axis && rd_coef(&f->of.fold->cell, loop->axis) &&
            rd_trips_of(r->t, s) * (double)bytes > NEAR_BYTES)
            return loop->axis;
    }
    return -1;
}

/* The body around a loop that has no other statement with a body; -1. */
static int32_t body_of(const rd_schedule *t, int32_t loop)
{
    const int32_t body = t->stmt[loop].parent;

    for (int32_t s = body >= 0 ? t->stmt[body].first : -1; s >= 0; s = t->stmt[s].next)
        if (s != loop && t->stmt[s].first >= 0)
            return -1;
    return body;
}

/* Would rows along the axis before go together, so that states stay in registers? */
static bool can_jam_rows(const rd_strip_at *r, int32_t axis, rd_fold_in_strip *fold)
{
    rd_strip    strip = { .axis = r->axis, .around = true };
    const char *why;

    if (!rd_may_go_around(r->t, r->top, r->axis, &why))
        return false;
    rd_find_fold_mappings(r, fold);
    rd_find_width(r, fold, &strip);
    RD_EACH_IN (r, s)
        if (r->t->stmt[s].kind == RD_S_LOOP && rd_loop_of(r->t, s)->axis == axis &&
            rd_unroll_jam_outer_rounds(r, &strip, fold, s) > 1)
            return true;
    return false;
}

bool rd_prefers_register_strips(const rd_strip_at *r, rd_fold_in_strip *fold, rd_strip_at *by)
{
    RD_EACH_IN (r, s) {
        const bool step = r->t->stmt[s].kind == RD_S_STEP;

        *by = *r;
        if (!step || !rd_fold_begins_in(r->t, r->t->stmt[s].fold, r->top))
            continue;
        by->axis   = axis_of_cells(r, s);
        by->top    = r->around ? r->top : body_of(r->t, r->top);
        by->around = true;
        if (by->axis >= 0 && by->top >= 0 && can_jam_rows(by, r->axis, fold))
            return true;
    }
    return false;
}
