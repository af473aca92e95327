/* state_copies.c - Statements that copy states into a local array and back, and the loop around
 * which they stand.
 *
 * Fields. A loop's `strip` is the number of the strips that it runs over, -1: none.
 *
 * Words. A fold is a reduction or a scan. */
#include "kernels/pass/state_copies.h"

/* The loop along the fold's steps around a step.  It visits the loops from the inside out; -1 if
 * one of them is not serial, goes over strips, or moves the cell (accumulator). */
int32_t rd_loop_of_steps(const rd_schedule *t, int32_t step)
{
    const rd_stmt *s = &t->stmt[step];

    for (int32_t k = s->parent; t->stmt[k].kind == RD_S_LOOP; k = t->stmt[k].parent) {
        const rd_for *loop = rd_loop_of(t, k);

        if (loop->kind != RD_FOR_SERIAL || loop->strip >= 0 ||
            rd_linear_coef(t, &s->of.cell, loop->axis))
            return -1;
        if (loop->of == t->fold[s->fold].along)
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

/* The statement that copies states between the array and the step's cell (accumulator): the step
 * without its operands, results and element. */
rd_stmt rd_copy_of_states(const rd_stmt *step, rd_stmt_kind kind, int32_t array)
{
    rd_stmt s = *step;

    s.kind = kind;
    s.arg  = array;
    s.at   = rd_linear_of(0);
    s.x = s.w = s.mask = -1;
    s.value = s.n_value = 0;
    s.of.lane = s.of.outer = s.of.index = rd_linear_of(0);
    return s;
}
