/* turned.c - rows of an array that become the columns of another one, as text:
 *
 *     vector m7 to 16, by call {                   turn_word4(64, 16, a2, 16, a1, 64, 0);
 *       serial m8 to 64 {
 *         r2 = load a1[64*m7 + m8]
 *         a2[16*m8 + m7] = r2 } }
 *
 * Of such loops compilers make a load and a store for each element. */
#include "kernels/loop/facts.h"
#include "kernels/print/print.h"
#include <inttypes.h>

bool rd_print_turned(rd_printing *n, int32_t stmt)
{
    const rd_schedule *t     = n->t;
    const int32_t      inner = t->stmt[stmt].first;
    const rd_stmt     *store;
    const rd_let      *load;

    if (!rd_turns_rows(t, stmt))
        return false;
    store = &t->stmt[t->stmt[inner].last];
    load  = &t->let[store->x];
    rd_print_line(n,
                  "turn_word%d(%" PRId64 ", %" PRId64 ", a%" PRId32 ", %" PRId64 ", a%" PRId32
                  ", %" PRId64 ", 0);",
                  rd_register_size(load->type), rd_loop_of(t, inner)->extent,
                  rd_loop_of(t, stmt)->extent, store->store,
                  rd_linear_coef(t, &store->at, rd_loop_of(t, inner)->axis), load->store,
                  rd_linear_coef(t, &load->at, rd_loop_of(t, stmt)->axis));
    return true;
}
