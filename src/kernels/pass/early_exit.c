/* early_exit.c - The pass early_exit decides how often a loop asks whether any element can still
 * change its fold.
 *
 *     exit from i1 by f0 cell m0, states m1 - m0            each row
 *     exit from i1 by f0 cell m0, states m1 - m0, every 16  if a check costs about as much as a row
 *
 * It removes checks that would look at many lanes of many cells.
 *
 * A cell is an accumulator; it has one state, or as many as the fold has lanes.  `count` of an
 * EXIT is the number of states that the check looks at: a constant offset, plus terms where there
 * is a state for each element of a strip.
 *
 * Fields. A loop's `strips_number` is the number of the strips that it runs over, -1: none. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"

/* A costly check is done once in 16 rounds.  A row (the elements of a round) of fewer than 512
 * takes about as long as a check of all lanes (partial accumulators). */
enum { CHECK_EVERY = 16, SHORT_ROWS = 512 };

/* True if the check looks at few states: the fold has one lane (partial accumulator) for each cell
 * (accumulator), or one cell. A check of many lanes of many cells would take longer than it saves.
 */
static bool can_be_asked(const rd_schedule *t, const rd_stmt *s)
{
    return t->fold[s->fold].lanes == 1 || t->p->fold[s->fold].n_cell == 1;
}

/* True if the exit leaves the loop that it stands in, and that loop has one round, so that nothing
 * is saved. */
static bool is_single_round(const rd_schedule *t, const rd_stmt *s)
{
    return s->arg == s->parent && rd_loop_of(t, s->arg)->kind == RD_FOR_ONCE;
}

/* True if a step of the fold stands directly in the loop. */
static bool has_step_in(const rd_schedule *t, int32_t loop, int32_t fold)
{
    for (int32_t k = t->stmt[loop].first; k >= 0; k = t->stmt[k].next)
        if (t->stmt[k].kind == RD_S_STEP && t->stmt[k].fold == fold)
            return true;
    return false;
}

/* True if a check costs about as much as a round of the loop around it, so that it is made in
 * every 16th round. In a loop over strips this is so if rounds have a known width. In other loops:
 * no step stands directly in the loop, it has more than 16 rounds, and the check looks at several
 * cells (accumulators) or the row is short. */
static bool is_check_costly(const rd_schedule *t, int32_t loop, const rd_stmt *s)
{
    const rd_for *l = rd_loop_of(t, loop);

    if (s->count.n) /* a state for each element of the strip */
        return true;
    if (l->strips_number >= 0)
        return l->width > 0;
    return !has_step_in(t, loop, s->fold) && l->extent > CHECK_EVERY &&
           (/*several cells:*/ s->count.offset > t->fold[s->fold].lanes ||
            t->p->axis_extent[l->axis] < SHORT_ROWS);
}

/* The pass: removes checks for an early exit (EXIT) that would look at several lanes of several
 * accumulators, or leave a loop of one round.  A check that costs about as much as a row is made in
 * every 16th round only. */
void rd_pass_early_exit(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k], next; s >= 0; s = next) {
            rd_stmt *stmt = &t->stmt[s];

            next = rd_next_stmt(t, s, t->part[k]);
            if (stmt->kind != RD_S_EXIT)
                continue;
            if (!can_be_asked(t, stmt) || is_single_round(t, stmt))
                rd_take_out(t, s);
            else if (is_check_costly(t, stmt->parent, stmt))
                stmt->every = CHECK_EVERY;
        }
}
