/* check_shared.c - what a block of threads of a GPU brings for all of its items is the same for
 * each of them.
 *
 * In the shadow run each item has arrays of its own; in the text those in shared memory are the
 * block's. Blocks of threads are whole where the loop over items says so: then these are items
 * that follow each other along it.  Teams that take rounds in turns are at other turns at the same
 * time, which no shadow run sees: it has one round behind the other. */
#include "kernels/loop/check.h"
#include "kernels/loop/facts.h"
#include <inttypes.h>

/* The innermost loop around over items of which blocks of threads are whole, -1. */
static int32_t items_around(const rd_schedule *t, int32_t stmt)
{
    int32_t s = rd_loop_around(t, stmt);

    while (s >= 0 && !(rd_loop_of(t, s)->kind == RD_FOR_ITEM && rd_loop_of(t, s)->padded_rounds))
        s = rd_loop_around(t, s);
    return s;
}

/* Is it stored by all threads of a block, into what they share? */
static bool is_shared(const rd_schedule *t, int32_t stmt)
{
    const rd_stmt *s    = &t->stmt[stmt];
    int32_t        loop = rd_loop_around(t, stmt);

    while (loop >= 0 && !rd_loop_of(t, loop)->by_block)
        loop = rd_loop_around(t, loop);
    return s->kind == RD_S_STORE && s->store >= 0 && loop >= 0;
}

/* Does the fold begin right in a body? */
static bool begins_in(const rd_schedule *t, int32_t fold, int32_t body)
{
    for (int32_t s = t->stmt[body].first; s >= 0; s = t->stmt[s].next)
        if (t->stmt[s].kind == RD_S_BEGIN && t->stmt[s].fold == fold)
            return true;
    return false;
}

/* The loop around a statement whose rounds are those of teams, each behind the one before, and the
 * one in it that has the turns; false: there are none. */
static bool turns_around(const rd_schedule *t, int32_t stmt, int32_t *teams, int32_t *turns)
{
    *turns = -1;
    for (*teams = rd_loop_around(t, stmt); *teams >= 0 && !rd_loop_of(t, *teams)->skewed;
         *teams = rd_loop_around(t, *teams))
        *turns = *teams;
    return *teams >= 0 && *turns >= 0;
}

/* Teams are at different turns at a time: they must be at different states, or have states of
 * their own. */
static bool has_own_states(const rd_schedule *t, int32_t stmt)
{
    const rd_stmt *s = &t->stmt[stmt];
    int32_t        teams, turns;

    return !rd_is_step(t, stmt) || !turns_around(t, stmt, &teams, &turns) ||
           begins_in(t, s->fold, teams) || rd_position_varies(t, turns, stmt, &s->of.cell) ||
           rd_position_varies(t, turns, stmt, &s->of.more);
}

/* Is it stored for all items, and differs in each? */
static bool differs_by_item(const rd_schedule *t, int32_t stmt)
{
    const int32_t items = is_shared(t, stmt) ? items_around(t, stmt) : -1;

    return items >= 0 && (rd_value_varies(t, items, t->stmt[stmt].x) ||
                          rd_position_varies(t, items, stmt, &t->stmt[stmt].at));
}

/* Checks each statement of the body: stored values must be equal for all items of a block, and
 * skewed rounds must have states of their own. */
bool rd_schedule_check_shared(const rd_schedule *t, rd_text *why)
{
    const int32_t body = t->part[RD_PART_BODY];

    for (int32_t s = body; s >= 0; s = rd_next_stmt(t, s, body)) {
        if (differs_by_item(t, s)) {
            rd_text_add(why, "a%" PRId32 " is shared by all items of a block, and differs in each",
                        t->stmt[s].store);
            return false;
        }
        if (!has_own_states(t, s)) {
            rd_text_add(why, "f%" PRId32 ": teams in turns are at the same states",
                        t->stmt[s].fold);
            return false;
        }
    }
    return true;
}
