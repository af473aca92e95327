/* block_ranges.c - The pass block_ranges splits loops along steps of folds into ranges that end
 * where blocks do (index-set splitting).
 *
 *     serial i1 {                     block i1 {
 *       step f0 ..                      cut at block f0 ..
 *       push if last f0 .. }            serial i1 { step f0 .. }
 *                                       push if last f0 .., of the last element }
 *
 * Then the loop asks once a range whether a block ends, and not once an element.
 *
 * A block is a number of consecutive steps of a fold, and its result is a leaf of the combine
 * tree. CUT_AT_BLOCK ends a range where a block does; PUSH_IF_LAST ends the block of a cell (an
 * accumulator) if the step is its last.  A mark is an axis bound to the first index of a range, or
 * to the index behind its last.
 *
 * Fields. A loop's `start_mark` and `stop_mark` are its marks, axes bound to where its round begins
 * and ends, -1: none. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"
#include <stdlib.h>

/* Returns the statement in the loop that ends blocks (runs of a fold's steps) of the fold
 * (PUSH_IF_LAST); -1: there is none. */
static int32_t find_ends(const rd_schedule *t, int32_t loop, int32_t fold)
{
    for (int32_t s = loop; s >= 0; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].kind == RD_S_PUSH_IF_LAST && t->stmt[s].fold == fold)
            return s;
    return -1;
}

/* True if the rounds of a loop over the axis are consecutive steps of the fold. An element's step
 * is outer * (rows of lanes) + lane / lanes, where a lane is a partial accumulator. Either the axis
 * moves the lane by 1, over more than one row of lanes, or it moves `lane_line` so that the product
 * is 1. The product may be -1, too, as a backwards loop takes the steps in the order of a reverse
 * scan. */
static bool has_consecutive_steps(const rd_schedule *t, const rd_stmt *ends, int32_t axis)
{
    const rd_fold *f     = &t->p->fold[ends->fold];
    const int64_t  outer = rd_linear_coef(t, &ends->fold_at.lane_line, axis);

    if (f->lane_extent > f->lanes && rd_linear_coef(t, &ends->fold_at.lane, axis) == 1)
        return true;
    return llabs(outer) * rd_rows_of_lanes(f) == 1;
}

/* Replaces the axis by a position in all four positions of a statement of a fold: the cell, the
 * lane, the line and the flat index. */
static void substitute(rd_schedule *t, rd_stmt *s, int32_t axis, rd_linear by)
{
    s->fold_at.cell      = rd_linear_with(t, s->fold_at.cell, axis, by);
    s->fold_at.lane      = rd_linear_with(t, s->fold_at.lane, axis, by);
    s->fold_at.lane_line = rd_linear_with(t, s->fold_at.lane_line, axis, by);
    s->fold_at.index     = rd_linear_with(t, s->fold_at.index, axis, by);
}

/* Returns the position: index that the axis is bound to + offset. */
static rd_linear axis_plus(rd_schedule *t, int32_t axis, int64_t offset)
{
    return rd_linear_plus_axis(t, rd_linear_of(offset), /*coef=*/1, axis);
}

/* Puts a block loop around the loop: each of its rounds is a range of the axis, from mark
 * `start_mark` to mark `stop_mark`, and the inner loop visits that range. Early exits of the loop
 * now leave the block loop. Returns the block loop. That comes from no loop of the program (of =
 * -1). */
static int32_t put_blocks_around(rd_schedule *t, int32_t loop)
{
    rd_for  block = *rd_loop_of(t, loop);
    int32_t made;

    block.kind         = RD_FOR_BLOCK;
    block.start_mark   = rd_add_mark(t);
    block.stop_mark    = rd_add_mark(t);
    block.step         = 0; /* ranges end where a CUT_AT_BLOCK says */
    block.program_loop = -1;
    made               = rd_put_loop_around(t, loop, loop, &block);
    if (t->failed)
        return loop;
    t->loop[t->stmt[loop].arg].from = rd_edge_of(axis_plus(t, block.start_mark, /*offset=*/0));
    t->loop[t->stmt[loop].arg].to   = rd_edge_of(axis_plus(t, block.stop_mark, /*offset=*/0));
    for (int32_t s = rd_next_exit(t, loop, loop); s >= 0; s = rd_next_exit(t, loop, s))
        t->stmt[s].arg = made;
    return made;
}

/* The new PUSH_IF_LAST `ends` stands behind `loop`, outside of the loops that stood between `loop`
 * and the `old` one. Those over cells (accumulators) are repeated around it. For the others it
 * names their last round (upper bound - 1), when all lanes have their elements. Returns the
 * outermost statement. A bound `to` of one part is all that can_split() lets through. */
static int32_t put_cell_loops_around(rd_schedule *t, int32_t ends, int32_t old, int32_t loop)
{
    int32_t outer = ends;

    for (int32_t k = t->stmt[old].parent; k != loop; k = t->stmt[k].parent) {
        const rd_for between = *rd_loop_of(t, k);

        if (rd_linear_coef(t, &t->stmt[ends].fold_at.cell, between.axis)) {
            const int32_t around = rd_add_loop(t, &between);

            rd_append(t, around, outer);
            outer = around;
        } else if (between.to.n == 1)
            substitute(t, &t->stmt[ends], between.axis,
                       rd_linear_plus(t, rd_linear_of(-1), /*coef=*/1, between.to.part[0].at));
    }
    return outer;
}

/* True if a BEGIN of the fold (it resets the fold's accumulators) stands directly in the body. */
static bool is_fold_begun_in(const rd_schedule *t, int32_t body, int32_t fold)
{
    for (int32_t s = t->stmt[body].first; s >= 0; s = t->stmt[s].next)
        if (t->stmt[s].kind == RD_S_BEGIN && t->stmt[s].fold == fold)
            return true;
    return false;
}

/* Makes the CUT_AT_BLOCK name the first round (lower bound) of all loops between `loop` and the old
 * PUSH_IF_LAST, as none of these loops stands around the cut, so their axes are not bound there.
 * part[0] is all of the bound, as can_split() demands n == 1. */
static void set_first_round(rd_schedule *t, rd_stmt *cut, int32_t old, int32_t loop)
{
    for (int32_t k = t->stmt[old].parent; k != loop; k = t->stmt[k].parent) {
        const rd_for between = *rd_loop_of(t, k);

        substitute(t, cut, between.axis, between.from.part[0].at);
    }
}

/* True if one PUSH_IF_LAST ends the block (a run of a fold's steps) of all cells (accumulators).
 * In a group-by (n_group > 0) all cells are at the same block. But a loop between the block loop
 * and the BEGIN whose axis moves the cell visits only some of them; then each must be ended by
 * itself. */
static bool ends_all_cells(const rd_schedule *t, int32_t block, const rd_stmt *ends)
{
    if (!t->p->fold[ends->fold].n_group)
        return false;
    for (int32_t k = block; k >= 0 && !is_fold_begun_in(t, k, ends->fold); k = t->stmt[k].parent)
        if (t->stmt[k].kind == RD_S_LOOP &&
            rd_linear_coef(t, &ends->fold_at.cell, rd_loop_of(t, k)->axis))
            return false;
    return true;
}

/* Replaces a PUSH_IF_LAST in the loop by two statements. A CUT_AT_BLOCK before the loop names the
 * first element of a range, and ends the range where that element's block (a run of a fold's
 * steps) ends. A PUSH_IF_LAST behind the loop names the range's last element. A backwards loop has
 * its first element at stop - 1. */
static void split_at_blocks(rd_schedule *t, int32_t loop, int32_t block, int32_t old)
{
    const rd_for  b     = *rd_loop_of(t, block);
    const int32_t first = b.backwards ? b.stop_mark : b.start_mark,
                  last  = b.backwards ? b.start_mark : b.stop_mark;
    rd_stmt cut = t->stmt[old], end = t->stmt[old];
    int32_t made;

    cut.kind         = RD_S_CUT_AT_BLOCK;
    cut.fold_at.cell = rd_linear_of(0); /* all cells end their blocks there */
    set_first_round(t, &cut, old, loop);
    substitute(t, &cut, b.axis, axis_plus(t, first, b.backwards ? -1 : 0));
    substitute(t, &end, b.axis, axis_plus(t, last, b.backwards ? 0 : -1));
    made = rd_add_stmt(t, &cut);
    rd_put_before(t, made, loop);
    end.all_cells = ends_all_cells(t, block, &end);
    if (end.all_cells)
        end.fold_at.cell = rd_linear_of(0);
    made = rd_add_stmt(t, &end);
    if (t->failed)
        return;
    made = put_cell_loops_around(t, made, old, loop);
    rd_append(t, block, made);
    rd_take_out(t, old);
}

/* True if rounds of the loop are consecutive steps, and each loop between it and the PUSH_IF_LAST
 * can be repeated with the PUSH_IF_LAST alone in it. Such a loop is one of the program (of >= 0),
 * over single indices (no mark), with one lower and one upper bound. It is no loop over a sparse
 * row (rd_is_sparse_row), as its bounds are read from memory. */
static bool can_split(const rd_schedule *t, int32_t loop, int32_t ends)
{
    if (!has_consecutive_steps(t, &t->stmt[ends], rd_loop_of(t, loop)->axis))
        return false;
    for (int32_t k = t->stmt[ends].parent; k != loop; k = t->stmt[k].parent) {
        const rd_for *between = rd_loop_of(t, k);

        if (between->start_mark >= 0 || between->to.n != 1 || between->from.n != 1 ||
            between->program_loop < 0 || rd_is_sparse_row(&t->p->loop[between->program_loop]))
            return false;
    }
    return true;
}

/* The pass: for each fold of several blocks (runs of its steps), splits the loop along its steps
 * into ranges that end where blocks do, so that the test for a block's end is made once a range. A
 * block loop that another fold has put around the loop is used again. */
void rd_pass_block_ranges(rd_schedule *t, const rd_target *target)
{
    (void)target;
    for (int32_t k = 0; k < t->p->n_fold && !t->failed; k++) {
        const rd_loop_fold *f = &t->fold[k];
        /* along < 0: there is one step, and no loop goes along the steps */
        const int32_t loop = f->blocks && f->step_loop >= 0 ? rd_loop_from(t, f->step_loop) : -1;
        const int32_t ends = loop >= 0 ? find_ends(t, loop, k) : -1;
        int32_t       block;

        if (ends < 0 || !can_split(t, loop, ends))
            continue;
        block = t->stmt[loop].parent;
        if (t->stmt[block].kind != RD_S_LOOP || rd_loop_of(t, block)->kind != RD_FOR_BLOCK)
            block = put_blocks_around(t, loop);
        if (!t->failed)
            split_at_blocks(t, loop, block, ends);
    }
}
