/* move_states.c - copies of states in a shadow run: to an array near their steps, and back.
 *
 * Words. A cell is one result of a fold, with its accumulators. A lane is one of the accumulators
 * of a cell, to which elements go in turn. */
#include "kernels/loop/shadow/accumulators.h"
#include <inttypes.h>
#include <stdlib.h>

/* Notes that statements that name the array's states from subscript `at` on mean this accumulator,
 * as its states are copied there. False: no memory. */
static bool add_alias(rd_shadow_folds *s, int32_t array, int64_t at, rd_shadow_accumulator *c)
{
    if (!s->alias[array])
        s->alias[array] = calloc((size_t)s->t->store[array].extent + 1, sizeof **s->alias);
    if (!s->alias[array])
        return rd_shadow_fails(s->why, "no memory");
    s->alias[array][at].of = c;
    return true;
}

/* True if the other array of the copy (by->arg) has a state (accumulator) with subscript `other`;
 * else a failure. */
static bool must_have_state(const rd_shadow_folds *s, const rd_stmt *by, int64_t other)
{
    return (other >= 0 && other < s->t->store[by->arg].extent) ||
           rd_shadow_fold_fails(s, by, "state %" PRId64 " of %" PRId64, other,
                                s->t->store[by->arg].extent);
}

/* Copies one lane's state to subscript `other` of the other array (LOAD_STATES), or back
 * (STORE_STATES). False: a failure. */
static bool move_one(const rd_shadow_folds *s, const rd_shadow_at *at, int64_t other, int32_t lane)
{
    const rd_stmt *by    = at->by;
    uint64_t      *state = rd_shadow_state_at(s, by, at->coords.cell, at->more, lane);

    if (!state || !must_have_state(s, by, other))
        return false;
    if (by->kind == RD_S_LOAD_STATES)
        s->state[by->arg][other] = *state;
    else
        *state = s->state[by->arg][other];
    return true;
}

/* Copies the state of a run of equal labels, at subscript `other` of array by->arg, back to the
 * cell (accumulator) that it came from, with the block (a run of a fold's steps) that it is at.
 * Without an alias the array holds no state. */
static bool end_run(const rd_shadow_folds *s, const rd_stmt *by, int64_t other)
{
    rd_shadow_alias *alias = s->alias[by->arg] ? &s->alias[by->arg][other] : NULL;
    uint64_t        *state;

    if (!must_have_state(s, by, other))
        return false;
    if (!alias || !alias->of)
        return true;
    state = rd_shadow_state_at(s, by, alias->of->number, alias->of->more, /*lane=*/0);
    if (!state)
        return false;
    *state           = s->state[by->arg][other];
    alias->of->block = alias->block;
    alias->of->store = by->store;
    alias->of        = NULL;
    return true;
}

/* Runs a SWITCH_STATE: the array of a run of equal labels (at->by->arg) gets the state of this
 * label's cell (accumulator). If it holds another cell's state, that goes back first; if it holds
 * this one's, nothing happens. A label outside [0, n_group) loads no state. The cell must still
 * take steps (RD_TAKES_STEPS); its state is that of lane 0. */
bool rd_shadow_switch_state(rd_shadow_folds *s, const rd_shadow_at *at, int64_t other,
                            int64_t label)
{
    const rd_fold         *f      = rd_shadow_fold_of(s, at->by->fold);
    const int64_t          number = at->coords.cell + label * f->group_stride;
    const rd_shadow_alias *alias  = s->alias[at->by->arg];
    rd_shadow_accumulator *c;
    uint64_t              *state;

    if (alias && must_have_state(s, at->by, other) && alias[other].of &&
        alias[other].of->number == number)
        return true;
    if (!end_run(s, at->by, other))
        return false;
    if (label < 0 || label >= f->n_group)
        return true;
    c     = rd_shadow_accumulator_at(s, at->by, number, at->more, RD_TAKES_STEPS, RD_TAKES_STEPS);
    state = c ? rd_shadow_state_at(s, at->by, number, at->more, /*lane=*/0) : NULL;
    if (!state || !add_alias(s, at->by->arg, other, c))
        return false;
    s->state[at->by->arg][other]       = *state;
    s->alias[at->by->arg][other].block = c->block;
    c->store                           = at->by->arg;
    return true;
}

/* Runs a LOAD_STATES or STORE_STATES: copies the states of all lanes (partial accumulators) of a
 * cell (accumulator), or of one, to the other array from subscript `other` on, or back. The block
 * (a run of a fold's steps) that the cell is at goes along. An array with lane_stride 0 holds one
 * lane's state. */
bool rd_shadow_move(rd_shadow_folds *s, const rd_shadow_at *at, int64_t other)
{
    const rd_stmt         *by    = at->by;
    const rd_tree_array   *local = &s->t->store[by->arg];
    const int32_t          lanes = local->lane_stride ? s->t->fold[by->fold].lanes : 1;
    rd_shadow_accumulator *c;

    if (local->one_label)
        return end_run(s, by, other);
    c = rd_shadow_accumulator_at(s, by, at->coords.cell, at->more, RD_TAKES_STEPS, RD_TAKES_STEPS);
    for (int32_t l = 0; l < lanes && c; l++)
        if (!move_one(s, at, other + l * local->lane_stride,
                      local->lane_stride ? l : (int32_t)at->coords.lane))
            return false;
    if (!c)
        return false;
    if (!add_alias(s, by->arg, other, c))
        return false;
    c->store = by->kind == RD_S_LOAD_STATES ? by->arg : by->store;
    if (by->kind == RD_S_LOAD_STATES)
        s->alias[by->arg][other].block = c->block;
    else
        c->block = s->alias[by->arg][other].block;
    return true;
}
