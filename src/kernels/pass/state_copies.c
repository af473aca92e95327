/* state_copies.c - Statements that copy states into a local array and back, and the loop around
 * which they stand.
 *
 * Fields. A loop's `strips_number` is the number of the strips that it runs over, -1: none.
 *
 * Words. A fold is a reduction or a scan. */
#include "kernels/pass/state_copies.h"
#include "kernels/loop/facts.h"

/* Returns the loop along the fold's steps (`step_loop`) around a step. All loops up to it must be
 * serial, not over strips (ranges that vector loops visit), and leave the cell (accumulator)
 * alone, so that all its steps go into one cell; else -1. */
int32_t rd_loop_of_steps(const rd_schedule *t, int32_t step)
{
    const rd_stmt *s = &t->stmt[step];

    for (int32_t k = s->parent; t->stmt[k].kind == RD_S_LOOP; k = t->stmt[k].parent) {
        const rd_for *loop = rd_loop_of(t, k);

        if (loop->kind != RD_FOR_SERIAL || loop->strips_number >= 0 ||
            rd_linear_coef(t, &s->fold_at.cell, loop->axis))
            return -1;
        if (loop->program_loop == t->fold[s->fold].step_loop)
            return k;
    }
    return -1;
}

/* True if the loop holds a statement of the step's fold other than the step. */
bool rd_has_other_fold_stmt(const rd_schedule *t, int32_t loop, int32_t step)
{
    for (int32_t s = loop; s >= 0; s = rd_next_stmt(t, s, loop))
        if (s != step && t->stmt[s].fold == t->stmt[step].fold)
            return true;
    return false;
}

/* Adds the ARRAY statement that declares the array; it stands nowhere yet. */
int32_t rd_add_declaration(rd_schedule *t, int32_t array)
{
    rd_stmt s = rd_stmt_of(RD_S_ARRAY);

    s.store = array;
    return rd_add_stmt(t, &s);
}

/* Returns the statement of `kind` that copies states between the array (arg) and the step's cell
 * (accumulator): the step without its operands, results and element, from subscript 0 of the array
 * on. */
rd_stmt rd_copy_of_states(const rd_stmt *step, rd_stmt_kind kind, int32_t array)
{
    rd_stmt s = *step;

    s.kind = kind;
    s.arg  = array;
    s.at   = rd_linear_of(0);
    s.x = s.weight = s.mask = -1;
    s.value = s.n_value = 0;
    s.fold_at.lane = s.fold_at.lane_line = s.fold_at.index = rd_linear_of(0);
    return s;
}

/* ---- States ---------------------------------------------------------------------------------- */
/* True if the position changes within a round of the vector loop: by the axis of a loop between
 * the statement and the vector loop, or by a value (axis < 0) that is made in it. */
static bool is_changed_inside(const rd_schedule *t, int32_t vector, int32_t stmt,
                              const rd_linear *at)
{
    for (int32_t s = t->stmt[stmt].parent; s != vector; s = t->stmt[s].parent)
        if (t->stmt[s].kind == RD_S_LOOP && rd_linear_coef(t, at, rd_loop_of(t, s)->axis))
            return true;
    for (int32_t k = 0; k < at->n; k++)
        if (t->term[at->first + k].axis < 0 &&
            rd_stands_in(t, t->let[t->term[at->first + k].value].made_by, vector))
            return true;
    return false;
}

/* True if the vector loop declares the array `store`. */
static bool is_declared_in(const rd_schedule *t, int32_t vector, int32_t store)
{
    for (int32_t s = vector; s >= 0; s = rd_next_stmt(t, s, vector))
        if (t->stmt[s].kind == RD_S_ARRAY && t->stmt[s].store == store)
            return true;
    return false;
}

/* True if the statement is a step or a PREFIX (step of a scan) without labels whose state
 * (accumulator) is the same one during a whole round of the vector loop, so that a variable can
 * hold it. Scans by a tree (levels) are left out, as they have many nodes of elements in place of
 * one state. */
static bool can_promote(const rd_schedule *t, int32_t vector, int32_t stmt)
{
    const rd_stmt *s = &t->stmt[stmt];

    return (s->kind == RD_S_STEP || (s->kind == RD_S_PREFIX && !t->fold[s->fold].levels)) &&
           s->label < 0 && !is_changed_inside(t, vector, stmt, &s->fold_at.cell) &&
           !is_changed_inside(t, vector, stmt, &s->fold_at.lane) &&
           !is_changed_inside(t, vector, stmt, &s->fold_at.state_offset) &&
           !is_declared_in(t, vector, s->store);
}

/* True if both steps use the same state: the same cell (accumulator), lane and offset in the same
 * array. */
static bool is_same_state(const rd_schedule *t, const rd_stmt *a, const rd_stmt *b)
{
    return a->store == b->store && rd_linear_same(t, &a->fold_at.cell, &b->fold_at.cell) &&
           rd_linear_same(t, &a->fold_at.lane, &b->fold_at.lane) &&
           rd_linear_same(t, &a->fold_at.state_offset, &b->fold_at.state_offset);
}

/* Adds the statement that copies the state of the step's lane (partial accumulator) into the
 * variable, or back, by `kind`; it stands nowhere yet. */
static int32_t add_copy(rd_schedule *t, const rd_stmt *step, rd_stmt_kind kind, int32_t array)
{
    rd_stmt s = rd_copy_of_states(step, kind, array);

    s.fold_at.lane = step->fold_at.lane;
    return rd_add_stmt(t, &s);
}

/* Keeps the state (accumulator) of a step in a variable (scalar promotion), and makes all steps by
 * this state use it. The copies stand at the start and the end of the vector loop's body. */
static void promote_state(rd_schedule *t, int32_t vector, int32_t stmt)
{
    const rd_stmt       step  = t->stmt[stmt];
    const rd_tree_array store = { .storage = RD_IN_REGISTERS, .fold = step.fold, .extent = 1 };
    const int32_t       array = rd_add_store(t, &store);
    int32_t             declared;

    for (int32_t s = vector; s >= 0 && !t->failed; s = rd_next_stmt(t, s, vector))
        if (can_promote(t, vector, s) && is_same_state(t, &t->stmt[s], &step)) {
            t->stmt[s].store                = array;
            t->stmt[s].fold_at.state_offset = rd_linear_of(0);
        }
    declared = rd_add_declaration(t, array);
    if (t->failed)
        return;
    rd_put_before(t, declared, t->stmt[vector].first);
    rd_put_behind(t, add_copy(t, &step, RD_S_LOAD_STATES, array), declared);
    rd_append(t, vector, add_copy(t, &step, RD_S_STORE_STATES, array));
}

/* Replaces, in the positions of steps' states, the axes of unrolled loops of one round by their
 * index: "cell i1" in round 2 is "cell 2". Then steps of different rounds that use one state have
 * equal positions. */
static void number_states(rd_schedule *t, int32_t vector)
{
    for (int32_t s = vector; s >= 0 && !t->failed; s = rd_next_stmt(t, s, vector)) {
        rd_fold_at at = t->stmt[s].fold_at;

        if (t->stmt[s].kind != RD_S_STEP && t->stmt[s].kind != RD_S_PREFIX)
            continue;
        for (int32_t k = t->stmt[s].parent; k != vector; k = t->stmt[k].parent) {
            const rd_for *loop = t->stmt[k].kind == RD_S_LOOP ? rd_loop_of(t, k) : NULL;

            if (!loop || loop->kind != RD_FOR_UNROLL || loop->extent != 1)
                continue;
            at.cell         = rd_linear_with(t, at.cell, loop->axis, loop->from.part[0].at);
            at.state_offset = rd_linear_with(t, at.state_offset, loop->axis, loop->from.part[0].at);
        }
        t->stmt[s].fold_at = at;
    }
}

/* Returns how many steps in the vector loop use the same state (accumulator) as this one. */
static int steps_by_state(const rd_schedule *t, int32_t vector, int32_t step)
{
    int n = 0;

    for (int32_t s = vector; s >= 0; s = rd_next_stmt(t, s, vector))
        n += can_promote(t, vector, s) && is_same_state(t, &t->stmt[s], &t->stmt[step]);
    return n;
}

/* Makes variables of the states (accumulators) of steps in the vector loop (scalar promotion),
 * where so many steps use one state.  States that an earlier step has promoted already are in
 * registers. */
void rd_promote_states(rd_schedule *t, int32_t vector, int fewest)
{
    number_states(t, vector);
    for (int32_t s = vector; s >= 0 && !t->failed; s = rd_next_stmt(t, s, vector))
        if (t->stmt[s].fold >= 0 && can_promote(t, vector, s) &&
            t->store[t->stmt[s].store].storage != RD_IN_REGISTERS &&
            steps_by_state(t, vector, s) >= fewest)
            promote_state(t, vector, s);
}
