/* unrolled_steps.c - four elements of a row that are taken as one: "fours0(&s0_0[0], &s0_1[0], a5);" */
#include "kernels/print/print.h"
#include <inttypes.h>

bool rd_print_unrolled_steps(rd_printing *n, int32_t loop)
{
    const rd_stmt *s      = &n->t->stmt[n->t->stmt[loop].last];
    rd_text        states = { 0 }, at = { 0 };

    if (s->kind != RD_S_STEP || rd_takes_power(&n->fold[s->fold].of))
        return false;
    rd_print_state_subscript(n, &at, s);
    rd_print_state_addresses(&states, &n->fold[s->fold], 's', s->store, at.at);
    rd_print_line(n, "fours%" PRId32 "(%s, a%" PRId32 ");", s->fold, states.at,
                  n->t->let[s->x].store);
    rd_text_end(&states, n->to);
    rd_text_end(&at, n->to);
    return true;
}
