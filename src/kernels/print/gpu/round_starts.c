/* round_starts.c - where a round of a loop begins and ends, as text.
 *
 * Words. A mark is an axis that is bound to where a loop's round begins or ends. */
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>

/* Adds the name of a round's first index: "m0", the loop's start mark, or its index "i1" if it
 * has no mark (-1). */
void rd_print_round_name(rd_printing *n, rd_text *to, const rd_for *loop)
{
    rd_print_axis(n, to, loop->start_mark >= 0 ? loop->start_mark : loop->axis);
}

/* Prints the first index of round `round` of a loop: "const int64_t m1 = m0 + 4 * t;". A loop
 * that goes backwards counts its rounds from the last one. */
void rd_print_start_of_round(rd_printing *n, const rd_for *loop, const char *round)
{
    rd_text name = { 0 }, from = { 0 };

    rd_print_round_name(n, &name, loop);
    rd_print_linear(n, &from, &loop->from.part[0].at);
    if (loop->backwards)
        rd_print_line(n, "const int64_t %s = %s + %" PRId64 " * (%" PRId64 " - %s);", name.at,
                      from.at, loop->step, loop->extent - 1, round);
    else
        rd_print_line(n, "const int64_t %s = %s + %" PRId64 " * %s;", name.at, from.at, loop->step,
                      round);
    rd_text_end(&name, n->to);
    rd_text_end(&from, n->to);
}

/* Prints the first index of round `u` of a batch: "const int64_t m0 = v1 + u * 64;". v1 is the
 * batch's first index, 64 the loop's step. */
void rd_print_round(rd_printing *n, int32_t rounds, const char *u)
{
    const rd_for *loop = rd_loop_of(n->t, rounds);
    rd_text       name = { 0 };

    rd_print_round_name(n, &name, loop);
    rd_print_line(n, "const int64_t %s = v%" PRId32 " + %s * %" PRId64 ";", name.at, loop->axis, u,
                  loop->step);
    rd_text_end(&name, n->to);
}

/* True for a loop over threads with one index each, along another axis than the rounds around.
 * Then whether the index exists does not depend on the round, so the test must not leave the
 * round. */
bool rd_has_other_axis(const rd_printing *n, const rd_for *loop)
{
    return loop->kind == RD_FOR_THREAD && loop->step == 1 &&
           (n->kernel->rounds < 0 || rd_loop_of(n->t, n->kernel->rounds)->axis != loop->axis);
}

/* Prints "if (i0 < m1) {": true if the thread's index is below the loop's upper bound; its last
 * part is the limit. */
void rd_print_if_there(rd_printing *n, const rd_for *loop)
{
    rd_text to = { 0 };

    rd_print_linear(n, &to, &loop->to.part[loop->to.n - 1].at);
    rd_print_line(n, "if (i%" PRId32 " < %s) {", loop->axis, to.at);
    rd_text_end(&to, n->to);
}
