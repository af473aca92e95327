/* batch_loads.c - batches the loads of several rounds of a loop that one thread runs: all loads
 * of a batch are issued before the first of them is used.  Where elements lie densely along the
 * loop, a thread loads several of them at once:
 *
 *     serial i1 to 3000        becomes   serial i1 to 3000 by 4, starts m0, 8 ahead
 *       r0 = load s0[i1]                   vector i1 from m0 to least(m0 + 4, 3000), in order
 *                                            r0 = load s0[i1] by 4
 *
 * A round is one step of a loop; m0 is a mark: an axis that is bound to the index where the current
 * round begins. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

/* Makes each round of a loop `along` adjacent elements, in a vector loop inside: "serial i1 by
 * 4, starts m0 { vector i1 from m0 to least(m0 + 4, end) { .. } }". The least of the bounds
 * counts, as the last round may be shorter. The elements stay in order. */
static void vectorise_round(rd_schedule *t, int32_t stmt, int32_t along)
{
    const rd_for old    = *rd_loop_of(t, stmt);
    rd_for       inside = old;
    const int    start  = rd_add_mark(t);

    inside.kind         = RD_FOR_VECTOR;
    inside.in_order     = true;
    inside.extent       = along;
    inside.program_loop = -1; /* it comes from no loop of the program */
    inside.prefetched   = 0;
    inside.from         = rd_edge_of(rd_linear_plus_axis(t, rd_linear_of(0), /*coef=*/1, start));
    inside.to = rd_edge_of(rd_linear_plus_axis(t, rd_linear_of(along), /*coef=*/1, start));
    rd_edge_add(&inside.to, old.to.part[0].at);
    rd_put_loop_around(t, t->stmt[stmt].first, t->stmt[stmt].last, &inside);
    if (t->failed)
        return;
    t->loop[t->stmt[stmt].arg].step       = along;
    t->loop[t->stmt[stmt].arg].start_mark = start;
    t->loop[t->stmt[stmt].arg].extent     = (old.extent + along - 1) / along;
}

/* The pass: the loads of `ahead` rounds of a serial loop are issued as one batch (prefetched),
 * where the plan (the backend's decisions about the kernel) says so. If elements lie densely
 * along the loop, each round becomes a vector of them (`along` > 1). Loops that come from no
 * loop of the program (`program_loop` < 0) are left alone. */
void rd_pass_gpu_batch_loads(rd_schedule *t, const rd_gpu_plan *plan)
{
    const int32_t body = t->part[RD_PART_BODY];

    for (int32_t s = body; s >= 0 && !t->failed; s = rd_next_stmt(t, s, body)) {
        const rd_for *l = t->stmt[s].kind == RD_S_LOOP ? rd_loop_of(t, s) : NULL;

        if (!l || l->kind != RD_FOR_SERIAL || l->program_loop < 0 || l->prefetched ||
            !plan->loop[l->program_loop].ahead)
            continue;
        t->loop[t->stmt[s].arg].prefetched = plan->loop[l->program_loop].ahead;
        if (plan->loop[l->program_loop].along > 1)
            vectorise_round(t, s, plan->loop[l->program_loop].along);
    }
}
