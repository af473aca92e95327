/* begin_blocks.c - each step asks before it whether a new block of the combine tree begins, where
 * "push if last" asked behind it whether the block has ended:
 *
 *     step f0 cell 0, lane i1: r0                      push if new f0 cell 0, lane i1
 *     push if last f0 cell 0, lane i1       becomes    step f0 cell 0, lane i1: r0
 *
 * So each thread of a team pushes its own lanes by its own elements, and no thread asks whether
 * an element is the last one of its block.
 *
 * A block is a number of steps of a fold; its result is a node that is pushed up the combine tree.
 * A lane is one of the states of a cell (accumulator), and a team is the threads that do an item of
 * work. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

/* Returns the statement before `ends` in its body that takes an element into the same fold (STEP
 * or PREFIX); -1: there is none. */
static int32_t step_before(const rd_schedule *t, int32_t ends)
{
    int32_t s = t->stmt[ends].prev;

    while (s >= 0 && ((t->stmt[s].kind != RD_S_STEP && t->stmt[s].kind != RD_S_PREFIX) ||
                      t->stmt[s].fold != t->stmt[ends].fold))
        s = t->stmt[s].prev;
    return s;
}

/* Makes PUSH_IF_LAST ("if this element ends its block, the block's node goes up the combine
 * tree") a PUSH_IF_NEW ("if this element is not of the open block, ..."), which stands before
 * the step. */
static void move_before_step(rd_schedule *t, int32_t ends)
{
    const int32_t step = step_before(t, ends);

    if (step < 0)
        return;
    t->stmt[ends].kind = RD_S_PUSH_IF_NEW;
    rd_take_out(t, ends);
    rd_put_before(t, ends, step);
}

/* The pass: each step tests before it whether a new block (of 64 steps) begins, not behind it
 * whether one ends. So no thread must know which element is the last one of its block. Early
 * exits are removed unless the plan (the backend's decisions about the kernel) keeps them: they
 * only save time, and results are the same without. */
void rd_pass_gpu_begin_blocks(rd_schedule *t, const rd_gpu_plan *plan)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k], next; s >= 0 && !t->failed; s = next) {
            next = rd_next_stmt(t, s, t->part[k]);
            if (t->stmt[s].kind == RD_S_PUSH_IF_LAST)
                move_before_step(t, s);
            else if (t->stmt[s].kind == RD_S_EXIT && !plan->keeps_exits)
                rd_take_out(t, s);
        }
}
