/* split_blocks.c - splits loops at the blocks of the combine tree, so that a cell begins a block
 * once and not at each element:
 *
 *     serial i1 to 129               becomes   serial i1 to 129 by 64, starts m7, stops m8
 *       push if new f1 .., line i1              push if new all f1, line m7
 *       step f1 .., line i1                     serial i1 from m7 to m8
 *                                                  step f1 .., line i1
 *
 * A block is 64 steps of a fold; its result is a leaf of the combine tree.  A cell is an
 * accumulator, and m7 and m8 are marks: where a block begins and ends. */
#include "core/combine_tree.h"
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/point_tiles.h"

/* Returns the position mark + offset. A mark is an axis of the tree that is bound to the first
 * index of a block (64 rounds), or to the one behind its last. */
static rd_linear mark(rd_schedule *t, int32_t axis, int64_t offset)
{
    return rd_linear_plus_axis(t, rd_linear_of(offset), /*coef=*/1, axis);
}

/* True if the fold has one lane (one accumulator for each cell), and the step that takes an
 * element is the element's index of the axis. A step is lane + rows * outer; so one of both
 * positions is the axis alone, with factor 1 in all, and the other one is 0. Folds from
 * RD_GPU_MOST_FOLDS on have no bit in a mask. */
static bool is_at_index(const rd_schedule *t, const rd_stmt *s, int32_t axis)
{
    const rd_fold *f = &t->p->fold[s->fold];

    return f->lanes == 1 && s->fold < RD_GPU_MOST_FOLDS && s->fold_at.lane_line.offset == 0 &&
           s->fold_at.lane.offset == 0 &&
           ((s->fold_at.lane_line.n == 1 && s->fold_at.lane.n == 0 &&
             rd_linear_coef(t, &s->fold_at.lane_line, axis) * rd_rows_of_lanes(f) == 1) ||
            (s->fold_at.lane.n == 1 && s->fold_at.lane_line.n == 0 &&
             rd_linear_coef(t, &s->fold_at.lane, axis) == 1));
}

/* Returns the next PUSH_IF_NEW (it begins a block of the combine tree where an element is the
 * block's first) behind `last` that can be hoisted. Then it is done once for 64 rounds of the
 * loop, as its step is the loop's index. -1: there is none. Those with `all_cells`, for all cells
 * (output elements) at once, are hoisted already. */
static int32_t next_block_begin(const rd_schedule *t, int32_t loop, int32_t last)
{
    const int32_t axis = rd_loop_of(t, loop)->axis;
    int32_t       s    = rd_next_stmt(t, last, loop);

    while (s >= 0 && (t->stmt[s].kind != RD_S_PUSH_IF_NEW || t->stmt[s].all_cells ||
                      !is_at_index(t, &t->stmt[s], axis)))
        s = rd_next_stmt(t, s, loop);
    return s;
}

/* Makes "push if new all f0, line m4": all cells (accumulators) of the fold begin the block (64
 * steps) that starts at the mark `start`, which replaces the axis in all positions of `push`. It
 * names no single cell, so `cell` and `state_offset` are 0. It stands nowhere yet. */
static int32_t add_begin_all(rd_schedule *t, int32_t push, int32_t axis, int32_t start)
{
    rd_stmt         push_all = t->stmt[push];
    const rd_linear by       = mark(t, start, /*offset=*/0);

    push_all.all_cells            = true;
    push_all.fold_at.cell         = rd_linear_of(0);
    push_all.fold_at.state_offset = rd_linear_of(0);
    push_all.fold_at.lane         = rd_linear_with(t, push_all.fold_at.lane, axis, by);
    push_all.fold_at.lane_line    = rd_linear_with(t, push_all.fold_at.lane_line, axis, by);
    push_all.fold_at.index        = rd_linear_with(t, push_all.fold_at.index, axis, by);
    push_all.parent = push_all.prev = push_all.next = -1; /* it stands nowhere */
    return rd_add_stmt(t, &push_all);
}

/* Hoists the beginnings of blocks (64 steps each) that next_block_begin() finds in the loop: one
 * statement for all cells (output elements) of a fold goes before the statement `first`.
 * `start`: the mark bound to the block's first index. `done` has a bit for each fold that has
 * its statement. */
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

/* Returns a loop over blocks of 64 rounds (RD_TREE_STEPS) of a loop like `like`. Its new marks
 * start and stop are bound to the ends of a block. `program_loop` -1: it comes from no loop of the
 * program. */
rd_for rd_gpu_block_loop(rd_schedule *t, const rd_for *like)
{
    rd_for blocks = *like;

    blocks.step         = RD_TREE_STEPS;
    blocks.extent       = (like->extent + RD_TREE_STEPS - 1) / RD_TREE_STEPS;
    blocks.start_mark   = rd_add_mark(t);
    blocks.stop_mark    = rd_add_mark(t);
    blocks.program_loop = -1;
    return blocks;
}

/* Strip-mines a loop inside a pair (a result and a point). An outer loop goes by blocks of 64
 * rounds, and folds along the loop begin a block there, once for all their cells (output
 * elements). */
static void split_by_blocks(rd_schedule *t, int32_t loop)
{
    const rd_for blocks = rd_gpu_block_loop(t, rd_loop_of(t, loop));

    rd_put_loop_around(t, loop, loop, &blocks);
    if (t->failed)
        return;
    t->loop[t->stmt[loop].arg].from   = rd_edge_of(mark(t, blocks.start_mark, /*offset=*/0));
    t->loop[t->stmt[loop].arg].to     = rd_edge_of(mark(t, blocks.stop_mark, /*offset=*/0));
    t->loop[t->stmt[loop].arg].extent = RD_TREE_STEPS;
    rd_gpu_lift_block_begins(t, loop, loop, blocks.start_mark);
}

/* Strip-mines each serial loop inside the loop over pairs along which a fold begins blocks of 64
 * steps. A pair is a result and a point. */
void rd_gpu_split_pair_loops(rd_schedule *t, int32_t pairs)
{
    for (int32_t s = pairs, next; s >= 0 && !t->failed; s = next) {
        next = rd_next_stmt(t, s, pairs);
        if (s != pairs && t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->kind == RD_FOR_SERIAL &&
            next_block_begin(t, s, s) >= 0)
            split_by_blocks(t, s);
    }
}
