/* tail_loops.c - a loop of whole steps and its tail loop share their index, as text:
 *
 *     int64_t i1 = r5;
 *     for (; i1 + 4 <= r6; i1 += 4) { .. }
 *     for (; i1 < r6; i1++) { .. }
 *
 * So nothing computes where the whole steps end, and compilers know that less than one step is
 * left: maxima of sparse rows, f64, take 0.83 of the time.
 *
 * An edge is a bound of a loop; it is one position or several, and a position may be rounded to a
 * start + a multiple of the step. */
#include "kernels/loop/facts.h"
#include "kernels/print/print.h"

/* True if the bound is one position, not the least of several, and is rounded to a multiple of
 * the step (by > 1), or not rounded, as asked. */
static bool is_single(const rd_edge *edge, bool rounded)
{
    return edge->n == 1 && (edge->part[0].multiple > 1) == rounded;
}

/* True if the statement (-1: none) is a serial forward loop that no early exit leaves
 * (n->is_exited). */
static bool is_plain_loop(const rd_printing *n, int32_t stmt)
{
    return stmt >= 0 && n->t->stmt[stmt].kind == RD_S_LOOP &&
           rd_loop_of(n->t, stmt)->kind == RD_FOR_SERIAL && !rd_loop_of(n->t, stmt)->backwards &&
           !n->is_exited[stmt];
}

/* True if the loop goes from `from` up to the last whole step before the end: its upper bound is
 * rounded down to `from` plus a multiple of the step, DOWN_TO(to, from, step). */
static bool has_whole_steps(const rd_schedule *t, const rd_for *loop)
{
    const rd_edge_part *to = &loop->to.part[0];

    return is_single(&loop->from, /*rounded=*/false) && is_single(&loop->to, /*rounded=*/true) &&
           !to->round_up && to->multiple == loop->step &&
           rd_linear_same(t, &to->base, &loop->from.part[0].at);
}

/* True if the statement is a loop of whole steps, and the next one is its tail loop, which
 * begins where it ends. Then the text needs no DOWN_TO(): both loops share an index. The tail
 * must be an innermost loop, because gcc makes other code of loops inside it, which took 1.14 of
 * the time. GPU texts (n->kernel) have no such pairs. */
bool rd_has_tail_loop(const rd_printing *n, int32_t stmt)
{
    const rd_schedule *t    = n->t;
    const int32_t      next = t->stmt[stmt].next;

    if (n->kernel || !is_plain_loop(n, stmt) || !is_plain_loop(n, next) ||
        !rd_is_innermost(t, next))
        return false;
    const rd_for       *loop = rd_loop_of(t, stmt), *tail = rd_loop_of(t, next);
    const rd_edge_part *to = &loop->to.part[0], *from = &tail->from.part[0];

    return has_whole_steps(t, loop) && loop->axis == tail->axis &&
           is_single(&tail->from, /*rounded=*/true) && from->multiple == to->multiple &&
           !from->round_up && rd_linear_same(t, &from->at, &to->at) &&
           rd_linear_same(t, &from->base, &to->base);
}

/* True if the statement is the tail loop of the loop before it, which does whole steps: both
 * share an index. */
bool rd_is_tail_loop(const rd_printing *n, int32_t stmt)
{
    const int32_t before = n->t->stmt[stmt].prev;

    return before >= 0 && n->t->stmt[before].kind == RD_S_LOOP && rd_has_tail_loop(n, before);
}
