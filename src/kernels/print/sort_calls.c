/* sort_calls.c - rows that a routine of the library sorts, as text:
 *
 *     q->sort(q, 0, (const float *)x4 + i1 * 2000, (int64_t *)x2 + i1 * 5);
 *
 * or of which it takes a strip, m3 to m4:
 *
 *     q->take(q, 0, (const float *)x4, (int64_t *)x2 + i1 * 5, (int64_t *)x5, m3, m4 - m3); */
#include "kernels/print/print.h"
#include <inttypes.h>

/* Adds the address of a row: "(float *)x4 + i1 * 2000". */
static void add_row(rd_printing *n, rd_text *to, rd_dtype type, int32_t address,
                    const rd_linear *at)
{
    rd_text_add(to, "(%s *)x%" PRId32 " + ", rd_memory_type(type), n->t->p->address[address].slot);
    rd_print_linear(n, to, at);
}

/* Prints the call that sorts a whole row, "q->sort(q, 0, from, to);", or takes a strip of it
 * (`most` > 0) into a state that holds the first few so far, "q->take(..);". q has the functions
 * of the caller. Texts for other devices than the CPU have none, and n->why says so. */
void rd_print_sort(rd_printing *n, const rd_stmt *s)
{
    const rd_sorting *sorting = &n->t->p->sorting[s->arg];
    rd_text           from = { 0 }, to = { 0 }, state = { 0 };

    if (n->kernel || n->dialect != &rd_dialect_c) {
        n->why = "rows are put in order by a routine";
        return;
    }
    add_row(n, &from, sorting->type, sorting->from, &s->at);
    add_row(n, &to, sorting->out, sorting->to, &s->fold_at.index);
    if (sorting->most) {
        add_row(n, &state, RD_I64, sorting->state, &s->fold_at.cell);
        rd_text_add(&state, ", ");
        rd_print_linear(n, &state, &s->fold_at.lane);
        rd_text_add(&state, ", ");
        rd_print_linear(n, &state, &s->count);
        rd_print_line(n, "q->take(q, %" PRId32 ", %s, %s, %s);", s->arg, from.at, to.at, state.at);
    } else
        rd_print_line(n, "q->sort(q, %" PRId32 ", %s, %s);", s->arg, from.at, to.at);
    rd_text_end(&state, n->to);
    rd_text_end(&from, n->to);
    rd_text_end(&to, n->to);
}
