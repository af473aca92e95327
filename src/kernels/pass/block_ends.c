/* block_ends.c - The pass block_ends turns a loop that ends blocks of adjacent cells, outside of
 * strips over these cells, into one call.
 *
 *     serial i1 to 180 {                            vector i1 to 180, by call {
 *       push if last f0 cell i1, line m1 - 1 }       push if last f0 cell i1, line m1 - 1 }
 *
 * A cell is an accumulator of a fold.  A block is some steps of a fold; where it ends, its result
 * goes up the combine tree (PUSH_IF_LAST).  A strip is a range of an axis that a vector
 * loop takes.
 *
 * Fields. A loop's `start_mark` and `stop_mark` are its marks, axes bound to where its round begins
 * and ends, -1: none. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"

/* True if a vector loop stands around the statement, at any depth. */
static bool is_in_vector(const rd_schedule *t, int32_t stmt)
{
    for (int32_t s = t->stmt[stmt].parent; s >= 0; s = t->stmt[s].parent)
        if (t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->kind == RD_FOR_VECTOR)
            return true;
    return false;
}

/* True if successive rounds over the axis take states that are adjacent in memory: their
 * subscript, cell * cell_stride + more, rises by 1. Lane (partial accumulator) and step of the
 * fold must stand still: no coefficient of the axis in their positions. */
static bool has_adjacent_states(const rd_schedule *t, const rd_stmt *ends, int32_t axis)
{
    const int64_t cell = rd_linear_coef(t, &ends->fold_at.cell, axis);

    return cell * t->store[ends->store].cell_stride +
                   rd_linear_coef(t, &ends->fold_at.state_offset, axis) ==
               1 &&
           !rd_linear_coef(t, &ends->fold_at.lane, axis) &&
           !rd_linear_coef(t, &ends->fold_at.lane_line, axis);
}

/* True if the statement is a serial loop over adjacent cells (accumulators) with one PUSH_IF_LAST
 * (ends the cell's block) as its body. The function that the generated C calls knows one lane, no
 * groups, and a plain loop: upwards over single indices (no mark), between one lower and one upper
 * bound. */
static bool is_block_ends_of_cells(const rd_schedule *t, int32_t stmt)
{
    const rd_for  *loop = t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;
    const rd_stmt *ends = loop && t->stmt[stmt].first >= 0 ? &t->stmt[t->stmt[stmt].first] : NULL;

    /* all: of a group-by */
    return ends && ends->kind == RD_S_PUSH_IF_LAST && ends->next < 0 && !ends->all_cells &&
           t->fold[ends->fold].lanes == 1 && !t->p->fold[ends->fold].n_group &&
           loop->kind == RD_FOR_SERIAL && loop->step == 1 && !loop->backwards &&
           loop->start_mark < 0 && loop->from.n == 1 && loop->to.n == 1 &&
           has_adjacent_states(t, ends, loop->axis);
}

/* The pass: a loop that ends the blocks (runs of a fold's steps) of adjacent accumulators, outside
 * of vector loops, becomes a vector loop that is one call in the generated C (by_call). It then
 * comes from no loop of the program (of = -1), so that no later pass splits or unrolls it. Without
 * strips (target->strips NULL) the text has no vector loops, and nothing is done. */
void rd_pass_block_ends(rd_schedule *t, const rd_target *target)
{
    for (int k = 0; target->strips && k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k]))
            if (is_block_ends_of_cells(t, s) && !is_in_vector(t, s)) {
                rd_for *loop       = &t->loop[t->stmt[s].arg];
                loop->kind         = RD_FOR_VECTOR;
                loop->by_call      = true;
                loop->program_loop = -1;
            }
}
