/* team_loops.c - distributes the rounds of a loop over the threads of an item's team.  With 16
 * threads of four adjacent elements:
 *
 *     serial i1 to 3000        becomes   serial i1 to 3000 by 64, starts m0
 *       step f0 .., lane i1                threads i1 from m0 to m0 + 64 by 4, starts m1
 *                                            vector i1 from m1 to least(m1 + 4, 3000)
 *                                              step f0 .., lane i1
 *
 * A thread that takes single elements takes two that lie a team apart: then the vector loop
 * stands around the threads.  If threads have lanes of a fold, rounds begin at lane 0.
 *
 * A team is the threads that do one item of work.  A round is a step of the loop over 64 indices;
 * m0 and m1 are marks, bound to where a round and a thread's part of it begin.  A lane is one of
 * the states of a fold's cell.
 *
 * Fields. A bound has n parts, of which the greatest or the least counts; one with by > 1 is
 * rounded to a multiple. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

/* True if the threads of a team share the rounds of the loop: a loop of the program (`program_loop`
 * >= 0), not over items, to which the plan gives a role of that kind. In a loop of chunks or ranges
 * the threads share the rounds of one of these. */
static bool is_distributed(const rd_schedule *t, const rd_gpu_plan *plan, int32_t stmt)
{
    const int32_t program_loop = t->stmt[stmt].kind == RD_S_LOOP && !rd_is_item_loop(t, stmt)
                                     ? rd_loop_of(t, stmt)->program_loop
                                     : -1;

    return program_loop >= 0 &&
           (plan->loop[program_loop].role == RD_GPU_DISTRIBUTED ||
            plan->loop[program_loop].role == RD_GPU_CHUNKS || plan->loop[program_loop].distributed);
}

/* Returns the position mark + offset. A mark is an axis of the tree that is bound to the first
 * index of a loop's current round. */
static rd_linear mark(rd_schedule *t, int32_t axis, int64_t offset)
{
    return rd_linear_plus_axis(t, rd_linear_of(offset), /*coef=*/1, axis);
}

/* Returns the lane position of the element at index 0, if lanes lie along the loop and threads
 * share them (per_thread > 0); else 0. Lanes are the partial accumulators to which elements go
 * in turn, so lane position mod lanes names one. */
static rd_linear first_lane(rd_schedule *t, int32_t loop)
{
    const int32_t axis = rd_loop_of(t, loop)->axis;

    for (int32_t s = loop; s >= 0; s = rd_next_stmt(t, s, loop)) {
        const rd_stmt *step = &t->stmt[s];
        const int64_t  coef =
            step->kind == RD_S_STEP ? rd_linear_coef(t, &step->fold_at.lane, axis) : 0;

        if (coef && t->store[step->store].per_thread)
            return rd_linear_plus_axis(t, step->fold_at.lane, -coef, axis);
    }
    return rd_linear_of(0);
}

/* True if a fold in the loop has its lanes (partial accumulators) along the loop, and each
 * thread of the team has some of them. */
static bool has_lanes_along(const rd_schedule *t, int32_t loop)
{
    const int32_t axis = rd_loop_of(t, loop)->axis;

    for (int32_t s = loop; s >= 0; s = rd_next_stmt(t, s, loop))
        if (t->stmt[s].kind == RD_S_STEP && t->store[t->stmt[s].store].per_thread &&
            rd_linear_coef(t, &t->stmt[s].fold_at.lane, axis))
            return true;
    return false;
}

/* Returns a loop like another one, but of another kind, step and extent. It binds no marks, and
 * comes from no loop of the program (`program_loop` -1). */
static rd_for loop_of(const rd_for *like, rd_for_kind kind, int64_t step, int64_t extent)
{
    rd_for made = *like;

    made.kind       = kind;
    made.step       = step;
    made.extent     = extent;
    made.start_mark = made.stop_mark = -1;
    made.team = made.prefetched = 0;
    made.program_loop           = -1;
    return made;
}

/* Makes the loop go by rounds of the team: `round` indices each. If threads own lanes (partial
 * accumulators) of a fold along it, a round must begin at lane 0; so the first one is rounded down,
 * and may begin before the loop does. `extent` is then an upper bound: one round more; -1: known at
 * run time only. The loads of `ahead` rounds are issued as one batch. `first` of a bound's part,
 * with `multiple`, is the index from which multiples of `multiple` count. */
static void make_rounds(rd_schedule *t, int32_t stmt, int64_t round, int32_t ahead)
{
    rd_for   *l     = &t->loop[t->stmt[stmt].arg];
    const int start = rd_add_mark(t);

    if (has_lanes_along(t, stmt)) {
        const rd_linear first = first_lane(t, stmt);

        l                        = &t->loop[t->stmt[stmt].arg];
        l->from.part[0].multiple = round;
        l->from.part[0].base     = rd_linear_plus(t, rd_linear_of(0), /*coef=*/-1, first);
    }
    l->step       = round;
    l->extent     = l->extent < 0 ? -1 : (l->extent + round - 1) / round + 1;
    l->start_mark = start;
    l->prefetched = ahead;
}

/* Puts two loops around the body of a round: `outer` goes by `step`, `inner` over the elements of
 * each of its rounds. Bounds of the old loop limit the inner one, as the first and the last round
 * may reach beyond them. A vector loop outside must keep its order, as its rounds may be steps of
 * one accumulator. A bound with several parts is the greatest of them (from), or the least (to). */
static void put_inside(rd_schedule *t, int32_t stmt, rd_for_kind outer, rd_for_kind inner,
                       int64_t step, const rd_for *old, int64_t round)
{
    const int32_t start = rd_loop_of(t, stmt)->start_mark;
    rd_for        a     = loop_of(old, outer, step, round / step);
    rd_for        b     = loop_of(old, inner, /*step=*/1, step);
    int32_t       around;

    a.in_order   = outer == RD_FOR_VECTOR;
    a.start_mark = rd_add_mark(t);
    a.from       = rd_edge_of(mark(t, start, /*offset=*/0));
    a.to         = rd_edge_of(mark(t, start, round));
    b.from       = rd_edge_of(mark(t, a.start_mark, /*offset=*/0));
    rd_edge_add(&b.from, old->from.part[0].at);
    b.to = rd_edge_of(mark(t, a.start_mark, step));
    rd_edge_add(&b.to, old->to.part[0].at);
    around = rd_put_loop_around(t, t->stmt[stmt].first, t->stmt[stmt].last, &a);
    if (!t->failed)
        rd_put_loop_around(t, t->stmt[around].first, t->stmt[around].last, &b);
}

/* Puts a barrier of the team before (`before`) or behind the loop, so that its threads see what
 * others have stored. */
static void put_barrier(rd_schedule *t, int32_t loop, bool before)
{
    const rd_stmt barrier = rd_stmt_of(RD_S_BARRIER);
    const int32_t made    = rd_add_stmt(t, &barrier);

    if (before)
        rd_put_before(t, made, loop);
    else
        rd_put_behind(t, made, loop);
}

/* Distributes the rounds of one loop over the team, between two barriers. A thread takes `width`
 * adjacent elements in a round; or, of width 1, two elements that lie a team apart, so that its
 * loop over elements stands outside of the threads. */
static void distribute(rd_schedule *t, const rd_gpu_plan *plan, int32_t stmt)
{
    const rd_for  old        = *rd_loop_of(t, stmt);
    const bool    apart      = plan->width == 1;
    const int64_t per_thread = apart ? 2 : plan->width, round = plan->team * per_thread;

    make_rounds(t, stmt, round, plan->loop[old.program_loop].ahead);
    if (apart)
        put_inside(t, stmt, RD_FOR_VECTOR, RD_FOR_THREAD, plan->team, &old, round);
    else
        put_inside(t, stmt, RD_FOR_THREAD, RD_FOR_VECTOR, plan->width, &old, round);
    put_barrier(t, stmt, /*before=*/true);
    put_barrier(t, stmt, /*before=*/false);
}

/* The pass: distributes the rounds of each loop over the threads of a team, where the plan (the
 * backend's decisions about the kernel) says so. */
void rd_pass_gpu_team_loops(rd_schedule *t, const rd_gpu_plan *plan)
{
    const int32_t body = t->part[RD_PART_BODY];

    for (int32_t s = body; s >= 0 && !t->failed; s = rd_next_stmt(t, s, body))
        if (is_distributed(t, plan, s))
            distribute(t, plan, s);
}
