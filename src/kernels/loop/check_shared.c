/* check_shared.c - checks that what a GPU block stores for all of its items is the same for each
 * item.
 *
 * In the shadow run each item has arrays of its own.  In the text the arrays in shared memory
 * belong to the block.  A block of threads is whole where the loop over items has
 * `padded_rounds`; its items are neighbours along that loop.  Teams of a skewed loop are at
 * different rounds at the same time, which a shadow run does not see.
 *
 * Words: an item is one round of a loop over work items.  A team is the threads that do one item,
 * and a block of threads has several teams.  Teams of a skewed loop run one round of the inner loop
 * behind each other.
 *
 * Words. A fold is a reduction or a scan. A cell is one result of a fold, with its accumulators. */
#include "kernels/loop/check.h"
#include "kernels/loop/facts.h"
#include <inttypes.h>

/* Returns the innermost loop around the statement that is over work items of whole blocks of
 * threads; -1: none. Only such a loop has padded_rounds (rounds added in the generated C, so that
 * blocks are whole). */
static int32_t items_around(const rd_schedule *t, int32_t stmt)
{
    int32_t s = rd_loop_around(t, stmt);

    while (s >= 0 && !(rd_loop_of(t, s)->kind == RD_FOR_ITEM && rd_loop_of(t, s)->padded_rounds))
        s = rd_loop_around(t, s);
    return s;
}

/* True if the statement stores to an array of the tree (store >= 0) in a loop that all threads of
 * a GPU block run together, once for all of the block's items (by_block). */
static bool is_shared(const rd_schedule *t, int32_t stmt)
{
    const rd_stmt *s    = &t->stmt[stmt];
    int32_t        loop = rd_loop_around(t, stmt);

    while (loop >= 0 && !rd_loop_of(t, loop)->by_block)
        loop = rd_loop_around(t, loop);
    return s->kind == RD_S_STORE && s->store >= 0 && loop >= 0;
}

/* True if the fold's BEGIN stands directly in this body. */
static bool begins_in(const rd_schedule *t, int32_t fold, int32_t body)
{
    for (int32_t s = t->stmt[body].first; s >= 0; s = t->stmt[s].next)
        if (t->stmt[s].kind == RD_S_BEGIN && t->stmt[s].fold == fold)
            return true;
    return false;
}

/* Finds the skewed loop over teams around a statement (a team: the threads of one work item), and
 * the outermost loop in it. Each team is one round of that inner loop behind the team before it.
 * False: there are none. */
static bool find_skewed_loops(const rd_schedule *t, int32_t stmt, int32_t *teams, int32_t *rounds)
{
    *rounds = -1;
    for (*teams = rd_loop_around(t, stmt); *teams >= 0 && !rd_loop_of(t, *teams)->skewed;
         *teams = rd_loop_around(t, *teams))
        *rounds = *teams;
    return *teams >= 0 && *rounds >= 0;
}

/* True unless a step takes states that teams (threads of a work item) share in a skewed loop,
 * where teams are at different rounds at the same time. States are a team's own if the fold begins
 * in the loop over teams, or each round has another cell (accumulator) or another state (more). */
static bool has_own_states(const rd_schedule *t, int32_t stmt)
{
    const rd_stmt *s = &t->stmt[stmt];
    int32_t        teams, rounds;

    return !rd_is_step(t, stmt) || !find_skewed_loops(t, stmt, &teams, &rounds) ||
           begins_in(t, s->fold, teams) || rd_position_varies(t, rounds, stmt, &s->fold_at.cell) ||
           rd_position_varies(t, rounds, stmt, &s->fold_at.state_offset);
}

/* True if the statement stores for all items (work of a team of threads each) of a block, but the
 * value or the address differs by item. */
static bool differs_by_item(const rd_schedule *t, int32_t stmt)
{
    const int32_t items = is_shared(t, stmt) ? items_around(t, stmt) : -1;

    return items >= 0 && (rd_value_varies(t, items, t->stmt[stmt].x) ||
                          rd_position_varies(t, items, stmt, &t->stmt[stmt].at));
}

/* Checks each statement of the body: stored values must be equal for all items (work of a team of
 * threads each) of a block, and skewed rounds must have states (accumulators) of their own. */
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
