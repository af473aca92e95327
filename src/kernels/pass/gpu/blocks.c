/* blocks.c - cells move on to a block of their tree once for the elements of it that follow:
 *
 *     serial i1 to 129               becomes   serial i1 to 129 by 64, starts m7, stops m8
 *       opens f1 .., outer i1                    opens all f1, outer m7
 *       step f1 .., outer i1                     serial i1 from m7 to m8
 *                                                  step f1 .., outer i1 */
#include "core/combine_tree.h"
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/staged.h"

static rd_linear mark(rd_schedule *t, int32_t axis, int64_t offset)
{
    return rd_linear_plus_axis(t, rd_linear_of(offset), 1, axis);
}

/* Is the step of each element its index of the axis? */
static bool is_at_index(const rd_schedule *t, const rd_stmt *s, int32_t axis)
{
    const rd_fold *f = &t->p->fold[s->fold];

    return f->lanes == 1 && s->fold < RD_GPU_MOST_FOLDS && s->of.outer.offset == 0 &&
           s->of.lane.offset == 0 &&
           ((s->of.outer.n == 1 && s->of.lane.n == 0 &&
             rd_linear_coef(t, &s->of.outer, axis) * rd_rows_of_lanes(f) == 1) ||
            (s->of.lane.n == 1 && s->of.outer.n == 0 && rd_linear_coef(t, &s->of.lane, axis) == 1));
}

/* The next OPENS of a loop that its rounds can do once for 64 of them; -1. */
static int32_t next_opens(const rd_schedule *t, int32_t loop, int32_t last)
{
    const int32_t axis = rd_loop_of(t, loop)->axis;
    int32_t       s    = rd_next_stmt(t, last, loop);

    while (s >= 0 &&
           (t->stmt[s].kind != RD_S_OPENS || t->stmt[s].all || !is_at_index(t, &t->stmt[s], axis)))
        s = rd_next_stmt(t, s, loop);
    return s;
}

/* "opens all f0, outer m4" */
static int32_t opens_all(rd_schedule *t, int32_t opens, int32_t axis, int32_t start)
{
    rd_stmt         all = t->stmt[opens];
    const rd_linear by  = mark(t, start, 0);

    all.all      = true;
    all.of.cell  = rd_linear_of(0);
    all.of.more  = rd_linear_of(0);
    all.of.lane  = rd_linear_with(t, all.of.lane, axis, by);
    all.of.outer = rd_linear_with(t, all.of.outer, axis, by);
    all.of.index = rd_linear_with(t, all.of.index, axis, by);
    all.parent = all.prev = all.next = -1;
    return rd_add_stmt(t, &all);
}

/* Before `first`, for all cells: once for each fold. */
void rd_gpu_lift_opens(rd_schedule *t, int32_t loop, int32_t first, int32_t start)
{
    const int32_t axis = rd_loop_of(t, loop)->axis;
    uint64_t      has  = 0;

    for (int32_t s = next_opens(t, loop, loop), next; s >= 0 && !t->failed; s = next) {
        next = next_opens(t, loop, s);
        if (!(has >> t->stmt[s].fold & 1))
            rd_put_before(t, opens_all(t, s, axis, start), first);
        has |= UINT64_C(1) << t->stmt[s].fold;
        rd_take_out(t, s);
    }
}

rd_for rd_gpu_by_blocks(rd_schedule *t, const rd_for *like)
{
    rd_for blocks = *like;

    blocks.step   = RD_TREE_STEPS;
    blocks.extent = (like->extent + RD_TREE_STEPS - 1) / RD_TREE_STEPS;
    blocks.start  = rd_add_mark(t);
    blocks.stop   = rd_add_mark(t);
    blocks.of     = -1;
    return blocks;
}

/* A loop in a pair, along which blocks of folds end. */
static void split_by_blocks(rd_schedule *t, int32_t loop)
{
    const rd_for blocks = rd_gpu_by_blocks(t, rd_loop_of(t, loop));

    rd_put_loop_around(t, loop, loop, &blocks);
    if (t->failed)
        return;
    t->loop[t->stmt[loop].arg].from   = rd_edge_of(mark(t, blocks.start, 0));
    t->loop[t->stmt[loop].arg].to     = rd_edge_of(mark(t, blocks.stop, 0));
    t->loop[t->stmt[loop].arg].extent = RD_TREE_STEPS;
    rd_gpu_lift_opens(t, loop, loop, blocks.start);
}

void rd_gpu_split_loops_in(rd_schedule *t, int32_t pairs)
{
    for (int32_t s = pairs, next; s >= 0 && !t->failed; s = next) {
        next = rd_next_stmt(t, s, pairs);
        if (s != pairs && t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->kind == RD_FOR_SERIAL &&
            next_opens(t, s, s) >= 0)
            split_by_blocks(t, s);
    }
}
