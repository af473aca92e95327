/* unroll_extremes.c - The pass unroll_extremes unrolls minima and maxima of long sparse rows by
 * four.
 *
 * Each step waits for the step before, as there is one state. The extreme of four elements waits
 * for none:
 *
 *     serial i0 from r0 to r1 {        serial i0 from r0 to r1 down to r0 + 4 k by 4, starts m0 {
 *       r2 = load s0[i0]                 unroll i0 from m0 to m0 + 4 { r2 = ..; a1[i0 - m0] = r2 }
 *       step f0: r2 }                    vector i0 from m0 to m0 + 4, by call {
 *                                          step f0: a1[i0 - m0] } }
 *                                      serial i0 from r1 down to r0 + 4 k to r1 { as before }
 *
 * A sparse row is a loop over stored places, with bounds r0 and r1 that are read from memory.  m0
 * is a mark, bound to the first index of four.
 *
 * Fields. A loop's `strips_number` is the number of the strips that it runs over, -1: none. A step
 * has values `weight`, `mask` and `label`, -1 where the fold has no weights, mask or groups. A
 * bound has n parts, of which the greatest or the least counts; one with by > 1 is rounded to a
 * multiple.
 *
 * Words. A lane is one of the accumulators of a cell, to which elements go in turn. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_arrays.h"

/* Elements of a step; the text has a function for so many (fours0()). */
enum { FOUR = 4 };

/* ---- Which ----------------------------------------------------------------------------------- */
/* True if the statement is an unmasked, unlabelled step of an extreme with one state, or a plain
 * value. Gathers (a value in the address, axis < 0) are not: their latency is longer, and compilers
 * gather four by a vector, in twice the time. One state (lanes 1) takes all elements.
 * rd_is_row_extreme() is true for minima and maxima of sparse rows of floats. */
static bool can_unroll_stmt(const rd_schedule *t, const rd_stmt *s)
{
    const rd_tree_value *let = s->kind == RD_S_LET ? &t->let[s->value] : NULL;

    if (s->kind == RD_S_STEP)
        return s->mask < 0 && s->label < 0 && t->fold[s->fold].lanes == 1 &&
               rd_is_row_extreme(&t->fold[s->fold].emit);
    if (!let)
        return false;
    for (int32_t k = 0; k < let->at.n && let->kind == RD_I_LOAD; k++)
        if (t->term[let->at.first + k].axis < 0)
            return false;
    return let->kind == RD_I_LOAD || let->kind == RD_I_MAP || let->kind == RD_I_CAST ||
           let->kind == RD_I_SELECT;
}

/* True if the loop is a sparse row of 16 elements or more in the mean, upwards between two
 * unrounded bounds, with a step of an extreme.  In short rows the tail is much, and each loop ends
 * with a branch that may be mispredicted (maxima of f32, rows of 3 in the mean: 0.82 of the speed;
 * of 20: 0.93, or 1.5 where rows are few; of 250: 2.4). It is a loop of the program (of >= 0)
 * without strips. */
static bool can_unroll(const rd_schedule *t, int32_t loop)
{
    enum { LONG = 16 };
    const rd_for *l        = rd_loop_of(t, loop);
    bool          has_step = false;

    if (l->kind != RD_FOR_SERIAL || l->program_loop < 0 || l->strips_number >= 0 ||
        !rd_goes_up(l) || !rd_is_sparse_row(&t->p->loop[l->program_loop]) ||
        rd_trips(t->p, l->program_loop) < LONG)
        return false;
    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next) {
        if (!can_unroll_stmt(t, &t->stmt[s]))
            return false;
        has_step |= t->stmt[s].kind == RD_S_STEP;
    }
    return has_step;
}

/* ---- Changes --------------------------------------------------------------------------------- */
/* Adds "unroll i0 from m0 to m0 + 4" at the end of a body, and returns it; a vector loop is by
 * call (one call in the generated C). It has no marks of its own (start_mark, stop_mark -1), and
 * comes from no loop of the program (program_loop -1). m0 is the mark bound to the first of four
 * elements. */
static int32_t add_loop(rd_schedule *t, int32_t body, rd_for_kind kind, int32_t axis, int32_t mark)
{
    const rd_linear from = rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, mark);
    rd_for          loop = rd_rounds_from(kind, axis, from, FOUR);
    int32_t         made;

    loop.by_call = kind == RD_FOR_VECTOR;
    made         = rd_add_loop(t, &loop);
    rd_append(t, body, made);
    return made;
}

/* Moves the step out of the unrolled loop `elements` into a loop by call (one call in the generated
 * C) behind it, over the same four indices. The elements go from one to the other through an array.
 * The lower bound of `elements` is just the mark, so the bound's only term names it. */
static void move_step(rd_schedule *t, int32_t step, int32_t elements)
{
    const int32_t body = t->stmt[elements].parent, value = t->stmt[step].x;
    const rd_for  l     = *rd_loop_of(t, elements);
    const int32_t mark  = t->term[l.from.part[0].at.first].axis;
    const int32_t store = rd_add_array_before(t, elements, t->let[value].type);
    const int32_t steps = add_loop(t, body, RD_FOR_VECTOR, l.axis, mark);

    rd_store_at_end(t, elements, value, store);
    rd_take_out(t, step);
    rd_append(t, steps, step);
    if (!t->failed)
        t->stmt[step].x = rd_load_at_start(t, steps, store, steps);
}

/* Adds a loop over four elements at a time before the loop, which keeps up to three elements (the
 * tail). `border` is the end, rounded down to whole fours, where the tail begins. The statements
 * move into an unrolled loop over the four (`elements`), and each STEP into a loop by call behind
 * it. The new loops come from no loop of the program (program_loop -1). */
static void put_unrolled_loop(rd_schedule *t, int32_t loop)
{
    const rd_for       l      = *rd_loop_of(t, loop);
    const rd_edge_part border = rd_whole_rounds(&l, FOUR);
    const int32_t      around = rd_stmt_copy(t, loop), mark = rd_add_mark(t);
    int32_t            elements;
    rd_for            *by_four;

    rd_put_before(t, around, loop);
    elements = add_loop(t, around, RD_FOR_UNROLL, l.axis, mark);
    if (t->failed)
        return;
    by_four                                 = &t->loop[t->stmt[around].arg];
    by_four->start_mark                     = mark;
    by_four->step                           = FOUR;
    by_four->to.part[0]                     = border;
    by_four->program_loop                   = -1;
    t->loop[t->stmt[loop].arg].from.part[0] = border;
    t->loop[t->stmt[loop].arg].extent       = FOUR - 1;
    while (t->stmt[around].first != elements) {
        const int32_t s = t->stmt[around].first;

        rd_take_out(t, s);
        rd_append(t, elements, s);
    }
    for (int32_t s = t->stmt[elements].first, next; s >= 0 && !t->failed; s = next) {
        next = t->stmt[s].next;
        if (t->stmt[s].kind == RD_S_STEP)
            move_step(t, s, elements);
    }
}

/* The pass: unrolls loops with minima and maxima of sparse rows by four, as the extreme of four
 * elements does not wait for the state (accumulator). */
void rd_pass_unroll_extremes(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0 && !t->failed; s = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].kind == RD_S_LOOP && can_unroll(t, s))
                put_unrolled_loop(t, s);
}
