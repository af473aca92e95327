/* split_in_order.c - The pass split_in_order moves computations for steps that go in order into
 * a vector loop before these steps (loop distribution).
 *
 *     serial i0 {                        serial i0 by 64, starts m0, stops m1 {
 *       r0 = load ..                       vector i0 from m0 to m1 {
 *       step f0, in order: r0                r0 = load ..; r1 = exp r0; step f1 cell i0: r1
 *       r1 = exp r0                          a3[i0 - m0] = r0; a4[i0 - m0] = r1 }
 *       step f1 cell i0: r1                serial i0 from m0 to m1 {
 *       step f2, in order: r1 }              step f0: a3[i0 - m0]; step f2: a4[i0 - m0] } }
 *
 * Without it, one fold along the rounds, one scan or one label keeps all of the loop from
 * vectors. No state takes its elements in another order.
 *
 * A step is in order if it must wait for the step before: its state is the same, or may be.  A late
 * statement is one that stays in the serial loop.
 *
 * Fields. A loop's `strips_number` is the number of the strips that it runs over, -1: none. A step
 * has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or groups. A fold
 * has `user` if its reducer is the caller's own. */
#include "kernels/loop/facts.h"
#include "kernels/pass/fission_points.h"
#include "kernels/pass/loop_chunks.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_arrays.h"
#include <stdlib.h>

/* Rounds of a chunk: a strip of 64 elements. */
enum { CHUNK = 64 };

/* ---- Which statements ------------------------------------------------------------------------ */
/* True if neighbouring rounds step into adjacent states, so that vectors can take the steps: each
 * round of the loop has a cell (accumulator) of its own, the next one in memory. The fold is built
 * in, has one lane and no labels, and no block (leaf of the combine tree) ends in between. */
static bool has_independent_states(const rd_schedule *t, int32_t step, int32_t loop)
{
    const rd_stmt      *s = &t->stmt[step];
    const rd_loop_fold *f = &t->fold[s->fold];

    return s->kind == RD_S_STEP && s->label < 0 && f->lanes == 1 && !f->blocks && !f->emit.user &&
           !t->p->fold[s->fold].user && rd_mapping_of(t, s->fold, loop) == RD_MAPS_CELLS &&
           rd_position_stride(t, loop, step, &s->fold_at.cell).by == 1;
}

static bool has_late_operand(const rd_schedule *t, int32_t stmt, int32_t loop, int32_t last);

/* True if the statement stays in the serial loop: a scan, the end of a block (a run of a fold's
 * steps), or a step whose state (accumulator) depends on the step before. So does a statement that
 * reads a value of a late one. */
static bool is_late(const rd_schedule *t, int32_t stmt, int32_t loop)
{
    switch (t->stmt[stmt].kind) {
    case RD_S_STEP:
        return !has_independent_states(t, stmt, loop) || has_late_operand(t, stmt, loop, stmt);
    case RD_S_PREFIX:
    case RD_S_PUSH_IF_LAST: return true;
    default: return has_late_operand(t, stmt, loop, stmt);
    }
}

/* True if the statement reads a value that a late statement (one that stays in the serial loop)
 * makes, among those of the loop before `last`. */
static bool has_late_operand(const rd_schedule *t, int32_t stmt, int32_t loop, int32_t last)
{
    for (int32_t s = t->stmt[loop].first; s >= 0 && s != last; s = t->stmt[s].next)
        for (int32_t k = 0; k < t->stmt[s].n_value; k++)
            if (rd_reads_value(t, stmt, t->stmt[s].value + k) && is_late(t, s, loop))
                return true;
    return false;
}

/* ---- Which loops ----------------------------------------------------------------------------- */
/* True if the statement is a serial loop upwards, outside of vector loops, over single indices (no
 * marks, no strips) of an axis of the program.  It has 8 rounds or more, or a number known at run
 * time only (extent < 0). */
static bool is_plain(const rd_schedule *t, int32_t stmt)
{
    enum { LEAST = 8 };
    const rd_for *l = t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;

    return l && l->kind == RD_FOR_SERIAL && !l->backwards && l->step == 1 && l->start_mark < 0 &&
           l->strips_number < 0 && l->axis < t->p->n_axis &&
           (l->extent < 0 || l->extent >= LEAST) && rd_vector_around(t, stmt) < 0;
}

/* True if the body holds only values, stores and steps. No checked index, which may end the run,
 * and no call, as users see the order of calls: both would move before other rounds' steps. */
static bool has_plain_body(const rd_schedule *t, int32_t loop)
{
    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next) {
        const rd_stmt       *stmt = &t->stmt[s];
        const rd_tree_value *let  = rd_let_of(t, s);

        if (let ? let->kind == RD_I_INDEX || let->kind == RD_I_CALL
                : stmt->kind != RD_S_STORE && stmt->kind != RD_S_STEP &&
                      stmt->kind != RD_S_PREFIX && stmt->kind != RD_S_PUSH_IF_LAST)
            return false;
    }
    return true;
}

/* Returns the time that vectors save for a statement, in additions: three times the cost of a
 * step, 20 for a function such as exp, the table's cost of any other operator, and 1 for a cast or
 * a choice. */
static double vector_gain(const rd_schedule *t, int32_t stmt)
{
    enum { STEP = 3, FUNCTION = 20 };
    const rd_tree_value *let = rd_let_of(t, stmt);

    if (t->stmt[stmt].kind == RD_S_STEP)
        return STEP * rd_fold_cost(&t->p->fold[t->stmt[stmt].fold]);
    if (!let)
        return 0;
    if (let->kind != RD_I_MAP)
        return let->kind == RD_I_CAST || let->kind == RD_I_SELECT;
    return rd_op_table[let->op].by >= RD_BY_OURS || rd_let_needs_fission(t, let)
               ? FUNCTION
               : (double)rd_op_table[let->op].cost;
}

/* True if some statements are late (stay serial), and vectors save 10 additions or more for the
 * others. Below that the arrays between the two loops cost about as much, as the serial steps'
 * latency hides cheap operations anyway. */
static bool is_profitable(const rd_schedule *t, int32_t loop)
{
    enum { LEAST = 10 };
    double early = 0;
    bool   late  = false;

    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next)
        if (is_late(t, s, loop))
            late = true;
        else
            early += vector_gain(t, s);
    return late && early >= LEAST;
}

/* True if an early load or store (one that moves to the vector loop) follows a late store (one
 * that stays) in the body: it may be of the same element, and would come before. */
static bool has_access_behind_store(const rd_schedule *t, int32_t loop)
{
    bool stored = false;

    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next) {
        stored |= t->stmt[s].kind == RD_S_STORE && is_late(t, s, loop);
        if (stored &&
            ((rd_let_of(t, s) && rd_let_of(t, s)->kind == RD_I_LOAD) ||
             t->stmt[s].kind == RD_S_STORE) &&
            !is_late(t, s, loop))
            return true;
    }
    return false;
}

/* True if the loop may be split in two, for early and late statements, and that is profitable. */
static bool can_split(const rd_schedule *t, int32_t stmt)
{
    return is_plain(t, stmt) && has_plain_body(t, stmt) && is_profitable(t, stmt) &&
           !has_access_behind_store(t, stmt);
}

/* ---- Two loops of one ------------------------------------------------------------------------ */
/* Moves late statements behind all others, in their order. Returns the first of them, or -1. All
 * are classified before one moves, as the order of statements decides. Two loops: first marks, then
 * moves. `end` is the last statement before any has moved, so the second loop ends there. Without
 * memory nothing moves, and the tree has failed. */
static int32_t sink_late(rd_schedule *t, int32_t loop)
{
    const int32_t end   = t->stmt[loop].last;
    bool         *late  = calloc((size_t)t->n_stmt, sizeof *late);
    int32_t       first = -1;
    bool          more  = true;

    t->failed |= !late;
    for (int32_t s = t->stmt[loop].first; s >= 0 && late; s = t->stmt[s].next)
        late[s] = is_late(t, s, loop);
    for (int32_t s = t->stmt[loop].first, next; s >= 0 && late && more; s = next) {
        next = t->stmt[s].next;
        more = s != end;
        if (!late[s])
            continue;
        first = first < 0 ? s : first;
        rd_take_out(t, s);
        rd_append(t, loop, s);
    }
    free(late);
    return first;
}

/* Strip-mines the loop into chunks of 64 rounds, and splits it in each chunk before the first late
 * statement (loop distribution). The first loop becomes a vector loop, and passes its values to the
 * serial one by arrays. If no statement before the late ones is early, or the loop must not be
 * split there, it stays. */
static void split_loop(rd_schedule *t, int32_t loop)
{
    const int32_t at = sink_late(t, loop);
    int32_t       steps;

    if (at < 0 || at == t->stmt[loop].first || !rd_may_fission(t, loop, at, /*why=*/NULL))
        return;
    rd_put_chunks_around(t, loop, CHUNK);
    steps = t->failed ? -1 : rd_split_vector(t, at, loop);
    if (t->failed)
        return;
    rd_expand_values(t, loop, steps);
    if (!t->failed && rd_may_be_vector(t, loop, /*why=*/NULL))
        t->loop[t->stmt[loop].arg].kind = RD_FOR_VECTOR;
}

/* The pass: moves computations for steps that must go in order into a vector loop before these
 * steps.  It visits all loops but those that it has added (statements from n on). */
void rd_pass_split_in_order(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k], n = t->n_stmt; s >= 0 && !t->failed;
             s = rd_next_stmt(t, s, t->part[k]))
            if (s < n && can_split(t, s))
                split_loop(t, s);
}
