/* unroll.c - The pass unroll replaces unrolled loops in a vector loop by loops of one round
 * each, with a known index.
 *
 *     vector i0 {                            vector i0 {
 *       unroll i1 to 2 { step f0 .. } }        unroll i1 to 1 { step f0 .. }
 *                                              unroll i1 from 1 to 2 { step f0 .. } }
 *
 * Then each round's values have names of their own, and pass `hoist` can move them. It also
 * makes compilers unroll long loops that are bound by exponentials, four rounds at a time.
 *
 * Fields. A loop's `program_loop` is the number of the program's loop that it comes from, -1: none.
 * A bound has n parts, of which the greatest or the least counts; one with by > 1 is rounded to a
 * multiple.
 *
 * Words. A loop by call is one call of a function in the text. */
#include "kernels/loop/facts.h"
#include "kernels/pass/pass.h"

/* True if the statement is an unrolled loop of several rounds with one unrounded lower bound, in a
 * vector loop that is written out in the generated C for each round: not flattened, not by call
 * (one call in the generated C). */
static bool needs_unrolling(const rd_schedule *t, int32_t stmt)
{
    const rd_for *loop = t->stmt[stmt].kind == RD_S_LOOP ? rd_loop_of(t, stmt) : NULL;

    return loop && loop->kind == RD_FOR_UNROLL && loop->extent > 1 && rd_is_position(&loop->from) &&
           rd_vector_around(t, stmt) >= 0 && !rd_loop_of(t, rd_vector_around(t, stmt))->flattened &&
           !rd_is_by_call(t, rd_vector_around(t, stmt));
}

/* Reduces the loop to one round, with the index `from` + round. So it goes neither up nor down
 * (backwards). The record is read again, as adding terms may move the tree's arrays. */
static void keep_round(rd_schedule *t, int32_t stmt, int64_t round)
{
    rd_for         *loop = &t->loop[t->stmt[stmt].arg];
    const rd_linear from =
        rd_linear_plus(t, rd_linear_of(round), /*coef=*/1, loop->from.part[0].at);

    loop       = &t->loop[t->stmt[stmt].arg];
    loop->from = rd_edge_of(from);
    loop->to   = rd_edge_of(from);
    loop->to.part[0].at.offset++;
    loop->extent    = 1;
    loop->backwards = false;
}

/* Puts copies with one round each before the loop, which keeps its last round. A loop that goes
 * backwards begins with its last index. */
static void unroll_loop(rd_schedule *t, int32_t stmt)
{
    const rd_for loop = *rd_loop_of(t, stmt);

    for (int64_t k = 0; k < loop.extent && !t->failed; k++) {
        const int64_t round = loop.backwards ? loop.extent - 1 - k : k;
        const bool    last  = k == loop.extent - 1;
        const int32_t made  = last ? stmt : rd_stmt_copy(t, stmt);

        if (t->failed)
            return;
        if (!last)
            rd_put_before(t, made, stmt);
        keep_round(t, made, round);
    }
}

/* Returns the first loop of the tree that needs unrolling, -1: none does. */
static int32_t next_to_unroll(const rd_schedule *t)
{
    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k]))
            if (needs_unrolling(t, s))
                return s;
    return -1;
}

/* Asks compilers to unroll, by four, serial loops of the program that are bound by the latency of
 * exponentials (exp_bound), so that four of these overlap. */
static void request_unrolling(rd_schedule *t, const rd_strips *strips)
{
    enum { ROUNDS = 4 };

    for (int k = 0; strips && k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k]; s >= 0; s = rd_next_stmt(t, s, t->part[k]))
            if (t->stmt[s].kind == RD_S_LOOP && rd_loop_of(t, s)->kind == RD_FOR_SERIAL &&
                rd_loop_of(t, s)->program_loop >= 0 &&
                strips->exp_bound[rd_loop_of(t, s)->program_loop])
                t->loop[t->stmt[s].arg].unroll = ROUNDS;
}

/* The pass: replaces each unrolled loop in a vector loop by loops of one round with a known index,
 * until none is left, as copies may hold further loops. */
void rd_pass_unroll(rd_schedule *t, const rd_target *target)
{
    request_unrolling(t, target->strips);
    for (int32_t s = next_to_unroll(t); s >= 0 && !t->failed; s = next_to_unroll(t))
        unroll_loop(t, s);
}
