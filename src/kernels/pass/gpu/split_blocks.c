/* split_blocks.c - splits loops at the blocks of the combine tree, so that a cell begins a block
 * once and not at each element:
 *
 *     serial i1 to 129               becomes   serial i1 to 129 by 64, starts m7, stops m8
 *       push if new f1 .., outer i1              push if new all f1, outer m7
 *       step f1 .., outer i1                     serial i1 from m7 to m8
 *                                                  step f1 .., outer i1
 *
 * A block is 64 steps of a fold; its result is a leaf of the combine tree.  A cell is an
 * accumulator, and m7 and m8 are marks: where a block begins and ends. */
#include "core/combine_tree.h"
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/point_tiles.h"

/* The position mark (axis bound to an end of a range) + offset. */
static rd_linear mark(rd_schedule *t, int32_t axis, int64_t offset)
{
    return rd_linear_plus_axis(t, rd_linear_of(offset), 1, axis);
}

/* True if the fold has one lane (partial accumulator) and the step of each element is its index of
 * the axis.  So either the lane position or the outer position is the axis alone, and the other one
 * is 0. */
static bool is_at_index(const rd_schedule *t, const rd_stmt *s, int32_t axis)
{
    const rd_fold *f = &t->p->fold[s->fold];

    return f->lanes == 1 && s->fold < RD_GPU_MOST_FOLDS && s->of.outer.offset == 0 &&
           s->of.lane.offset == 0 &&
           ((s->of.outer.n == 1 && s->of.lane.n == 0 &&
             rd_linear_coef(t, &s->of.outer, axis) * rd_rows_of_lanes(f) == 1) ||
            (s->of.lane.n == 1 && s->of.outer.n == 0 && rd_linear_coef(t, &s->of.lane, axis) == 1));
}

/* The next PUSH_IF_NEW behind `last` in the loop that can be done once for 64 rounds, as its step
 * is the loop's index; -1 if there is none.  Those for all cells (accumulators) are done so
 * already. */
static int32_t next_block_begin(const rd_schedule *t, int32_t loop, int32_t last)
{
    const int32_t axis = rd_loop_of(t, loop)->axis;
    int32_t       s    = rd_next_stmt(t, last, loop);

    while (s >= 0 && (t->stmt[s].kind != RD_S_PUSH_IF_NEW || t->stmt[s].all ||
                      !is_at_index(t, &t->stmt[s], axis)))
        s = rd_next_stmt(t, s, loop);
    return s;
}

/* Adds "push if new all f0, outer m4": all cells (accumulators) of the fold begin the block that
 * starts at the mark.  It stands nowhere yet. It names no single cell or state (cell, more 0). */
static int32_t add_begin_all(rd_schedule *t, int32_t push, int32_t axis, int32_t start)
{
    rd_stmt         push_all = t->stmt[push];
    const rd_linear by       = mark(t, start, 0);

    push_all.all      = true;
    push_all.of.cell  = rd_linear_of(0);
    push_all.of.more  = rd_linear_of(0);
    push_all.of.lane  = rd_linear_with(t, push_all.of.lane, axis, by);
    push_all.of.outer = rd_linear_with(t, push_all.of.outer, axis, by);
    push_all.of.index = rd_linear_with(t, push_all.of.index, axis, by);
    push_all.parent = push_all.prev = push_all.next = -1;
    return rd_add_stmt(t, &push_all);
}

/* Moves each PUSH_IF_NEW that next_block_begin() finds in the loop before `first`.  It is added
 * once for each fold, for all of its accumulators (cells); `done` has a bit for each fold that has
 * got one. */
void rd_gpu_lift_block_begins(rd_schedule *t, int32_t loop, int32_t first, int32_t start)
{
    const int32_t axis = rd_loop_of(t, loop)->axis;
    uint64_t      done = 0;

    for (int32_t s = next_block_begin(t, loop, loop), next; s >= 0 && !t->failed; s = next) {
        next = next_block_begin(t, loop, s);
        if (!(done >> t->stmt[s].fold & 1))
            rd_put_before(t, add_begin_all(t, s, axis, start), first);
        done |= UINT64_C(1) << t->stmt[s].fold;
        rd_take_out(t, s);
    }
}

/* A loop over blocks of 64 rounds of a loop like `like`; new marks (axes bound to the ends of a
 * range) say where a block starts and stops. It comes from no loop of the program (of -1). */
rd_for rd_gpu_block_loop(rd_schedule *t, const rd_for *like)
{
    rd_for blocks = *like;

    blocks.step   = RD_TREE_STEPS;
    blocks.extent = (like->extent + RD_TREE_STEPS - 1) / RD_TREE_STEPS;
    blocks.start  = rd_add_mark(t);
    blocks.stop   = rd_add_mark(t);
    blocks.of     = -1;
    return blocks;
}

/* Splits a loop inside a pair of points at the blocks of the folds that run along it. */
static void split_by_blocks(rd_schedule *t, int32_t loop)
{
    const rd_for blocks = rd_gpu_block_loop(t, rd_loop_of(t, loop));

    rd_put_loop_around(t, loop, loop, &blocks);
    if (t->failed)
        return;
    t->loop[t->stmt[loop].arg].from   = rd_edge_of(mark(t, blocks.start, 0));
    t->loop[t->stmt[loop].arg].to     = rd_edge_of(mark(t, blocks.stop, 0));
    t->loop[t->stmt[loop].arg].extent = RD_TREE_STEPS;
    rd_gpu_lift_block_begins(t, loop, loop, blocks.start);
}

/* Splits all serial loops inside the loop over pairs along which blocks of folds end. */
void rd_gpu_split_pair_loops(rd_schedule *t, int32_t pairs)
{
    for (int32_t s = pairs, next; s >= 0 && !t->failed; s = next) {
        next = rd_next_stmt(t, s, pairs);
        if (s != pairs && t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->kind == RD_FOR_SERIAL &&
            next_block_begin(t, s, s) >= 0)
            split_by_blocks(t, s);
    }
}
