/* unrolled_steps.c - steps that take four elements of a row at once (unrolled by four):
 * "fours0(&s0_0[0], &s0_1[0], a5);"
 *
 * Words. A loop by call is one call of a function in the text. */
#include "kernels/print/print.h"
#include <inttypes.h>

/* Prints a vector loop by call whose last statement is a step as one call, "fours0(&s0_0[0],
 * &s0_1[0], a5);", which takes four elements of array a5 into the state at once. False if the
 * loop has no such step; those with an exponential have calls of their own. */
bool rd_print_unrolled_steps(rd_printing *n, int32_t loop)
{
    const rd_stmt *s      = &n->t->stmt[n->t->stmt[loop].last];
    rd_text        states = { 0 }, at = { 0 };

    if (s->kind != RD_S_STEP || rd_has_exponential(&n->fold[s->fold].emit))
        return false;
    rd_print_state_subscript(n, &at, s);
    rd_print_state_addresses(&states, &n->fold[s->fold], 's', s->store, at.at);
    rd_print_line(n, "fours%" PRId32 "(%s, a%" PRId32 ");", s->fold, states.at,
                  n->t->let[s->x].store);
    rd_text_end(&states, n->to);
    rd_text_end(&at, n->to);
    return true;
}
